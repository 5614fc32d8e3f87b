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
  /** The first part of its output that matches, as soon as it has been written. */
  said(pattern: RegExp): Promise<string>
  /** Asks it to stop, and tells how it ended. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

interface Started {
  child: ChildProcess
  ended: Promise<Ended>
  said(pattern: RegExp): Promise<string>
}

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Started {
  const around = { ...process.env, ...env }
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: around })
  let out = ''
  let err = ''
  child.stdout!.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr!.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const ended = new Promise<Ended>((resolve) => child.once('close', (code, signal) => resolve({ code: code ?? signal!, out, err })))
  const said = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(out)
        if (found) resolve(found[0])
      }
      child.stdout!.on('data', look)
      void ended.then(() => reject(new Error(`it ended without having said ${String(pattern)}`)))
      look()
    })
  return { child, ended, said }
}

/** Runs a command of ours to its end. `env` is added to the environment. */
export const runCoxswain = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  start(args, env).ended

/** Starts a process and waits for the line that says it is ready; throws what it said if it ends instead. */
async function untilReady(args: readonly string[]): Promise<Started & { line: string }> {
  const log = args.includes('--log-level') ? [] : ['--log-level', 'warn']
  const { child, ended, said } = start([...args, ...log])
  const ready = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (line.startsWith('ready ')) resolve(line)
    })
  })
  const first = await Promise.race([ready, ended])
  if (typeof first !== 'string') throw new Error(`${args[0]} ended with ${first.code}: ${first.err}`)
  return { child, ended, said, line: first }
}

const stopper = ({ child, ended }: Started) => (signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> => {
  child.kill(signal)
  return ended
}

/** Starts an API server on a free port and waits until it is ready. */
export const startServer = (dataDir: string, flags: readonly string[] = []): Promise<RunningServer> => startServing('apiserver', dataDir, flags)

/** Starts everything in one process, and waits until it is ready. */
export const startEverything = (dataDir: string, flags: readonly string[] = []): Promise<RunningServer> => startServing('up', dataDir, flags)

async function startServing(command: string, dataDir: string, flags: readonly string[]): Promise<RunningServer> {
  const port = flags.includes('--secure-port') ? [] : ['--secure-port', '0']
  const started = await untilReady([command, '--store', 'lmdb', '--data-dir', dataDir, ...port, ...flags])
  const [, url = '', , kubeconfig = ''] = started.line.split(' ')
  return { url, kubeconfig, pid: started.child.pid!, said: started.said, stop: stopper(started) }
}

/** A part that runs on its own and said that it is ready. */
export interface RunningPart {
  /** Where it tells how it is. */
  url: string
  /** What it said about itself: `acting`, or `standing by, …`. */
  role: string
  pid: number
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

const startPart = (command: string, kubeconfig: string, flags: readonly string[]): Promise<RunningPart> =>
  startRunning([command, '--kubeconfig', kubeconfig, ...flags])

/** Starts a simulated node that joins by itself, and waits until it is Ready. */
export const startJoiningNode = (name: string, flags: readonly string[]): Promise<RunningPart> =>
  startRunning(['node', '--join', '--node-name', name, ...flags])

async function startRunning(args: readonly string[]): Promise<RunningPart> {
  const started = await untilReady(args)
  const [, url = '', role = ''] = /^ready (\S+) (.*)$/.exec(started.line) ?? []
  return { url, role, pid: started.child.pid!, stop: stopper(started) }
}

/** Starts controllers and waits until they act, or stand by. */
export const startControllers = (kubeconfig: string, flags: readonly string[] = []): Promise<RunningPart> => startPart('controllers', kubeconfig, flags)

/** Starts a scheduler and waits until it acts, or stands by. */
export const startScheduler = (kubeconfig: string, flags: readonly string[] = []): Promise<RunningPart> => startPart('scheduler', kubeconfig, flags)

/** Starts a monitor and waits until it has read everything. */
export const startMonitor = (kubeconfig: string, flags: readonly string[] = []): Promise<RunningPart> => startPart('monitor', kubeconfig, flags)

/** Starts a simulated node and waits until it is Ready. */
export const startNode = (kubeconfig: string, name: string): Promise<RunningPart> =>
  startPart('node', kubeconfig, ['--node-name', name, '--runtime', 'simulated'])

/** Starts the dashboard for a kubeconfig, and waits for its link. */
export async function startDashboard(kubeconfig: string, flags: readonly string[] = []): Promise<{ link: string; stop(): Promise<Ended> }> {
  const started = await untilReady(['dashboard', '--kubeconfig', kubeconfig, ...flags])
  return { link: started.line.split(' ')[1] ?? '', stop: stopper(started) }
}
