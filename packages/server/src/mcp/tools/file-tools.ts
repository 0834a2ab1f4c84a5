/** Files: put in for tasks, and read out of them, as text or base64 in pieces that a model can take. */
import { FermataError } from '@fermata/protocol';
import { strictOptions } from '@fermata/protocol/schemas';
import { nameSchema } from '@fermata/protocol/wire';
import { z } from 'zod';
import { endOfPiece, textIn } from '../file-text.ts';
import { mcpTool } from '../mcp-tool.ts';

const MiB = 1024 * 1024;
const MAX_UPLOAD = 4 * MiB;
const MAX_PIECE = MiB;

const uploadFile = mcpTool({
  name: 'upload_file',
  title: 'Store a file for programs',
  description:
    'Stores a file, given as text or as base64 (4 MiB at most), and returns its file_id. Give that to run_code in files, with the path at which the program shall find it.',
  scope: 'run',
  input: strictOptions({
    name: z.string().min(1).max(255),
    text: z.string().max(MAX_UPLOAD).optional(),
    base64: z
      .base64()
      .max(Math.ceil((MAX_UPLOAD * 4) / 3) + 4)
      .optional(),
  }),
  output: z.object({ file_id: z.string(), name: z.string(), bytes: z.number() }),
  async perform({ name, text, base64 }, { client }) {
    if ((text === undefined) === (base64 === undefined)) throw new FermataError('invalid_request', 'give exactly one of text and base64');
    const bytes = text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text);
    if (bytes.length > MAX_UPLOAD)
      throw new FermataError('body_too_large', `the file has ${bytes.length} bytes, and ${MAX_UPLOAD} are taken here`, { hint: 'Send larger files by the REST API.' });
    const stored = await client.files.put(name, new Uint8Array(bytes));
    return { value: stored, text: `${stored.name} is stored as ${stored.file_id}` };
  },
});

const downloadFile = mcpTool({
  name: 'download_file',
  title: 'Read a file',
  description: 'Reads a file that a task has left (its files tell the file_id) or that was uploaded, as text or base64, from a byte on.',
  scope: 'read',
  readOnly: true,
  idempotent: true,
  input: strictOptions({
    file_id: nameSchema,
    offset: z.int().min(0).default(0),
    max_bytes: z.int().min(16).max(MAX_PIECE).default(65_536),
    as: z.enum(['auto', 'text', 'base64']).default('auto').describe('auto: text where it is UTF-8, else base64'),
  }),
  output: z.object({
    file_id: z.string(),
    total_bytes: z.number(),
    text: z.string().optional(),
    base64: z.string().optional(),
    next_offset: z.number().optional().describe('Where the next piece begins; absent at the end'),
  }),
  async perform({ file_id, offset, max_bytes, as }, { client }) {
    const all = await client.files.get(file_id);
    const wantsText = as === 'text' || (as === 'auto' && textIn(all) !== undefined);
    const end = wantsText ? endOfPiece(all, offset, max_bytes) : Math.min(all.length, offset + max_bytes);
    const piece = all.subarray(Math.min(offset, end), end);
    const text = wantsText ? textIn(piece) : undefined;
    if (as === 'text' && text === undefined) throw new FermataError('invalid_request', 'the file is no text', { hint: 'Read it as base64.' });
    const content = text === undefined ? { base64: Buffer.from(piece).toString('base64') } : { text };
    return { value: { file_id, total_bytes: all.length, ...content, ...(end < all.length ? { next_offset: end } : {}) }, text: text ?? content.base64 ?? '' };
  },
});

export const fileTools = [uploadFile, downloadFile];
