/** Where progress is shown. */
export interface ProgressOutput {
  isTTY?: boolean
  write(text: string): unknown
}

/** Says what is being done, to somebody who sits at a terminal and to nobody else. */
export const progressOn = (output: ProgressOutput) => (what: string): void => {
  if (output.isTTY) output.write(`${what} …\n`)
}
