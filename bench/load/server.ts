import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import https from 'node:https'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'

const startLimitMs = 120_000

/** A server of ours in a process of its own, on a durable store in a folder that goes with it. */
export interface RunningServer {
  pid: number
  kubeconfig: string
  /** From the spawn to the first /readyz that says ok. */
  startMs: number
  stop(): Promise<void>
}

/** Starts `program`, a file for node, as `program apiserver`, with flags for node itself and for the server. */
export async function startServer(program: string, nodeFlags: readonly string[] = [], serverFlags: readonly string[] = []): Promise<RunningServer> {
  const dir = mkdtempSync(path.join(tmpdir(), 'coxswain-bench-'))
  const port = await freePort()
  const kubeconfig = path.join(dir, 'kubeconfig')
  const started = performance.now()
  const flags = ['--data-dir', path.join(dir, 'data'), '--secure-port', String(port), '--kubeconfig-out', kubeconfig, '--log-level', 'warn']
  const child = spawn(process.execPath, [...nodeFlags, program, 'apiserver', ...flags, ...serverFlags], { stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    await ready(child, port, started)
  } catch (e) {
    child.kill('SIGKILL')
    throw e
  }
  const startMs = performance.now() - started
  await fileThere(kubeconfig, started)
  return {
    pid: child.pid!,
    kubeconfig,
    startMs,
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** A part of ours in a process of its own. */
export interface RunningPart {
  pid: number
  /** The URL of its metrics. */
  url: URL
  stop(): Promise<void>
}

/** Starts `program controllers` against a server and waits until they act. */
export const startControllers = (program: string, kubeconfig: string, nodeFlags: readonly string[] = []): Promise<RunningPart> =>
  startPart(['controllers', '--kubeconfig', kubeconfig], program, nodeFlags)

/** Starts `program PART FLAGS` and waits until it acts. */
export async function startPart(command: readonly string[], program: string, nodeFlags: readonly string[] = []): Promise<RunningPart> {
  const child = spawn(process.execPath, [...nodeFlags, program, ...command, '--log-level', 'error'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const [line] = (await Promise.race([
    once(child.stdout, 'data'),
    ended.then(() => {
      throw new Error(`${command[0]} ended with ${child.exitCode}`)
    }),
  ])) as [Buffer]
  return {
    pid: child.pid!,
    url: new URL(line.toString().split(' ')[1]!),
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** CPU seconds that the process has used so far, all its threads together. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name, in parentheses, may hold spaces; user and system time are the 14th and 15th field, in hundredths.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Resident memory of the process in MB: all of it, and what of that is not a mapped file. */
export function resident(pid: number): { rss: number; own: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mb = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
  return { rss: mb('VmRSS'), own: mb('RssAnon') }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function ready(child: ChildProcess, port: number, since: number): Promise<void> {
  while (!(await asks(port))) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    if (performance.now() - since > startLimitMs) throw new Error('the server did not become ready')
    await pause(5)
  }
}

/** The CA is not known before the server has started. */
function asks(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = https.get({ host: '127.0.0.1', port, path: '/readyz', agent: false, rejectUnauthorized: false }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode === 200))
    })
    request.on('error', () => resolve(false))
  })
}

/** The kubeconfig is written right after the server listens. */
async function fileThere(file: string, since: number): Promise<void> {
  for (;;) {
    try {
      readFileSync(file)
      return
    } catch (e) {
      if (performance.now() - since > startLimitMs) throw e
      await pause(5)
    }
  }
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
