/** What an MCP server answers to a call, as a value of the program. */
import type { Value, ValueRecord } from '@fermata/protocol';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { ToolError } from '../tool.ts';

/**
 * Structured content is the result, with `content` beside it where there is more than text; else one block stands for itself
 * and several are a list. Text is a string; images and sounds have their bytes. Throws {@link ToolError} for `isError`.
 */
export function valueOfResult(tool: string, { content = [], structuredContent, isError }: CallToolResult): Value {
  const blocks = content.map(valueOfBlock);
  if (isError) {
    const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    throw new ToolError(text || `${tool} failed and does not say why`, { name: 'ToolError', data: { content: blocks } });
  }
  if (structuredContent !== undefined) {
    const structured = structuredContent as Value;
    return content.every(({ type }) => type === 'text') ? structured : { structured, content: blocks };
  }
  return blocks.length > 1 ? blocks : (blocks[0] ?? null);
}

function valueOfBlock(block: ContentBlock): Value {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return { type: block.type, mimeType: block.mimeType, data: bytesOf(block.data) };
    case 'resource': {
      const { uri, mimeType } = block.resource;
      return given({ type: 'resource', uri, mimeType, ...('text' in block.resource ? { text: block.resource.text } : { data: bytesOf(block.resource.blob) }) });
    }
    default: {
      const { type, uri, name, title, description, mimeType, size } = block;
      return given({ type, uri, name, title, description, mimeType, size });
    }
  }
}

const bytesOf = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'));
const given = (record: Record<string, Value | undefined>) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as ValueRecord;
