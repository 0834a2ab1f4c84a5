/** The blob of a file that a tenant has put in; the `files` of a request name it. */
export function fileBlob(tenant: string, fileId: string): string {
  return `file_${tenant}_${fileId}`;
}
