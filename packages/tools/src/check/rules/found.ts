/** What a rule finds, at an offset of the text. */
import type { Finding } from '../finding.ts';

export interface Found extends Pick<Finding, 'rule' | 'severity' | 'message'> {
  at: number;
}
