import { spawn } from 'node:child_process'
import { existsSync, readlinkSync } from 'node:fs'
import { allProcesses } from './proc.ts'
import { shellWord } from './tools.ts'

const script = ['/usr/bin/script', '/bin/script'].find((file) => existsSync(file))

/** Whether programs can be given a terminal here. */
export const hasTerminals = script !== undefined

/** The command that runs another one in a terminal of its own; itself, where there is nothing to make one. */
export function inTerminal(command: readonly string[]): readonly string[] {
  if (!script) return command
  if (process.platform !== 'linux') return [script, '-q', '/dev/null', ...command]
  return [script, '-q', '-e', '-f', '-c', `exec ${command.map(shellWord).join(' ')}`, '/dev/null']
}

/** Sets the size of the terminal that the process holds for a child. The kernel tells the program. */
export function setTerminalSize(holder: number, columns: number, rows: number): void {
  const child = allProcesses().find((p) => p.parent === holder)
  if (!child) return
  try {
    // By the open file: its name may be that of another root directory.
    const file = `/proc/${child.pid}/fd/0`
    if (!/\/dev\/pts\/\d+$/.test(readlinkSync(file))) return
    spawn('stty', ['-F', file, 'cols', String(columns), 'rows', String(rows)], { stdio: 'ignore' }).on(
      'error',
      () => {},
    )
  } catch {
    // It has ended meanwhile.
  }
}
