/** What `@fermata/models/author` offers: prompts made of values, and programs read out of replies. It asks no model and keeps nothing. */
export { answerPrompt } from './author/answer-prompt.ts';
export type { AuthorFacts, EarlierTask } from './author/author-facts.ts';
export { complaint, type Fault } from './author/complaint.ts';
export { cutStart, cutText } from './author/cut-text.ts';
export { lookedUp, MOST_LOOKS } from './author/look-up.ts';
export { answeringFunctions, writingFunctions } from './author/model-functions.ts';
export { type FoundProgram, fenced, lookupsIn, readReply, replyText } from './author/read-reply.ts';
export { writingPrompt } from './author/writing-prompt.ts';
