/** The output for progress. */
export interface ProgressOutput {
  isTTY?: boolean
  write(text: string): unknown
}

/** Returns a function that reports progress, at a terminal only. */
export const progressOn =
  (output: ProgressOutput) =>
  (what: string): void => {
    if (output.isTTY) output.write(`${what} …\n`)
  }
