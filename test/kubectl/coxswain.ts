import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const program = path.join(path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url)))), 'bin/coxswain')

/** How a process ended: its exit code (or the signal), and what it wrote. */
export interface Ended {
  code: number | string
  out: string
  err: string
}

/** A server process that said it is ready. */
export interface RunningServer {
  url: string
  kubeconfig: string
  pid: number
  /** Asks it to stop, and tells how it ended. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

interface Started {
  child: ChildProcess
  ended: Promise<Ended>
}

function start(args: readonly string[]): Started {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  child.stdout!.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr!.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const ended = new Promise<Ended>((resolve) => child.once('close', (code, signal) => resolve({ code: code ?? signal!, out, err })))
  return { child, ended }
}

/** Runs a command of ours to its end. */
export const runCoxswain = (args: readonly string[]): Promise<Ended> => start(args).ended

/** Starts an API server on a free port and waits until it is ready; throws what it said if it ends instead. */
export async function startServer(dataDir: string, flags: readonly string[] = []): Promise<RunningServer> {
  const port = flags.includes('--secure-port') ? [] : ['--secure-port', '0']
  const log = flags.includes('--log-level') ? [] : ['--log-level', 'warn']
  const { child, ended } = start(['apiserver', '--store', 'lmdb', '--data-dir', dataDir, ...port, ...log, ...flags])
  const ready = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (line.startsWith('ready ')) resolve(line)
    })
  })
  const first = await Promise.race([ready, ended])
  if (typeof first !== 'string') throw new Error(`the server ended with ${first.code}: ${first.err}`)
  const [, url = '', , kubeconfig = ''] = first.split(' ')
  return {
    url,
    kubeconfig,
    pid: child.pid!,
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}
