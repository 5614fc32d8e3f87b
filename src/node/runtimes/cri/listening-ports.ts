import { readFile } from 'node:fs/promises'

const listening = '0A'

/** True if a table of sockets such as /proc/PID/net/tcp has a listener at the port. */
export const hasListener = (table: string, port: number): boolean =>
  table
    .split('\n')
    .slice(1)
    .some((line) => {
      const [, local = '', , state] = line.trim().split(/\s+/)
      return state === listening && Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16) === port
    })

/**
 * True if a program listens at a TCP port in the network namespace of a process. Undefined if it cannot be determined.
 */
export async function isListening(pid: number, port: number): Promise<boolean | undefined> {
  try {
    const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'latin1')))
    return tables.some((table) => hasListener(table, port))
  } catch {
    return undefined
  }
}
