/** Addresses of what tasks leave behind: `fermata://tasks/<id>`, `fermata://tasks/<id>/<part>`, `fermata://files/<id>`. */

export const TASK_PARTS = ['result', 'stdout', 'stderr', 'code'] as const;
export type TaskPart = (typeof TASK_PARTS)[number];
export type ResourceAddress = { taskId: string; part?: TaskPart } | { fileId: string };

const FORM = /^fermata:\/\/(?:tasks\/([^/?#]+)(?:\/([a-z]+))?|files\/([^/?#]+))$/;

export const resourceUri = {
  task: (taskId: string, part?: TaskPart) => `fermata://tasks/${encodeURIComponent(taskId)}${part === undefined ? '' : `/${part}`}`,
  file: (fileId: string) => `fermata://files/${encodeURIComponent(fileId)}`,
};

/** What an address names; undefined where it is none of ours. */
export function readUri(uri: string): ResourceAddress | undefined {
  const [, task, part, file] = FORM.exec(uri) ?? [];
  try {
    if (file !== undefined) return { fileId: decodeURIComponent(file) };
    if (task === undefined) return undefined;
    if (part === undefined) return { taskId: decodeURIComponent(task) };
    const known = TASK_PARTS.find((name) => name === part);
    return known && { taskId: decodeURIComponent(task), part: known };
  } catch {
    return undefined;
  }
}
