/** `@fermata/models/scripted`: a model server for tests and demos. */
export type { Asked, AskedMessage } from './scripted/protocol.ts';
export {
  checkScript,
  type Expectation,
  loadScript,
  type Match,
  type Script,
  type ScriptedCall,
  type ScriptedFault,
  type ScriptedReply,
  type ScriptedStep,
} from './scripted/script.ts';
export { createScriptedServer, type ScriptedServer, type ServedRequest } from './scripted/scripted-server.ts';
