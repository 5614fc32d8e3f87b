import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const program = path.join(path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url)))), 'bin/coxswain')

/** The end of a process: its exit code (or the signal), and its output. */
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

/** A process that was started, and may not be ready yet. */
export interface Started {
  child: ChildProcess
  ended: Promise<Ended>
  said(pattern: RegExp): Promise<string>
}

/** Whom a process runs as; the test's own user by default. */
export interface User {
  uid?: number
  gid?: number
}

/** Starts any command. */
export function startCoxswain(args: readonly string[], env: Readonly<Record<string, string>> = {}, user: User = {}): Started {
  const around = { ...process.env, ...env }
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: around, ...user })
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
  startCoxswain(args, env).ended

/** Starts a process and waits for the line that says it is ready; throws what it said if it ends instead. */
async function untilReady(args: readonly string[], user: User = {}): Promise<Started & { line: string }> {
  const log = args.includes('--log-level') ? [] : ['--log-level', 'warn']
  const { child, ended, said } = startCoxswain([...args, ...log], {}, user)
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
export const startEverything = (dataDir: string, flags: readonly string[] = [], user: User = {}): Promise<RunningServer> =>
  startServing('up', dataDir, [...runtimeFlags(flags), ...flags], user)

/** True where nodes run pods with a container runtime: the tests of test/cri say so, which run some of the others again. */
export const hasContainers = process.env['COXSWAIN_TEST_NODE_FLAGS'] !== undefined

/** The runtimes of the test machine must not affect the tests. */
const runtimeFlags = (flags: readonly string[]): string[] =>
  flags.includes('--runtime') ? [] : (process.env['COXSWAIN_TEST_NODE_FLAGS'] ?? '--runtime process').split(' ')

/**
 * The default store of servers in tests: LMDB, or the etcd in COXSWAIN_TEST_ETCD. There each data directory has its own
 * prefix, so that a restarted server finds its data.
 */
function storeFlags(dataDir: string): string[] {
  const etcd = process.env['COXSWAIN_TEST_ETCD']
  if (!etcd) return ['--store', 'lmdb']
  const prefix = `/${createHash('sha256').update(path.resolve(dataDir)).digest('hex').slice(0, 16)}`
  return ['--store', 'etcd', '--etcd-servers', etcd, '--etcd-prefix', prefix]
}

async function startServing(command: string, dataDir: string, flags: readonly string[], user: User = {}): Promise<RunningServer> {
  const port = flags.includes('--secure-port') ? [] : ['--secure-port', '0']
  const store = flags.includes('--store') || flags.includes('--join') ? [] : storeFlags(dataDir)
  const started = await untilReady([command, ...store, '--data-dir', dataDir, ...port, ...flags], user)
  const [, url = '', , kubeconfig = ''] = started.line.split(' ')
  return { url, kubeconfig, pid: started.child.pid!, said: started.said, stop: stopper(started) }
}

/** A part that runs on its own and said that it is ready. */
export interface RunningPart {
  /** The URL of its health and metrics. */
  url: string
  /** Its reported role: `acting`, or `standing by, …`. */
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

/** Starts a publisher and waits until it acts, or stands by. */
export const startPublisher = (kubeconfig: string, flags: readonly string[] = []): Promise<RunningPart> => startPart('publish', kubeconfig, flags)

/** Starts a monitor and waits until it has read everything. */
export const startMonitor = (kubeconfig: string, flags: readonly string[] = []): Promise<RunningPart> => startPart('monitor', kubeconfig, flags)

/** Starts a node, a simulated one unless flags say otherwise, and waits until it is Ready. */
export const startNode = (kubeconfig: string, name: string, flags: readonly string[] = ['--runtime', 'simulated']): Promise<RunningPart> =>
  startPart('node', kubeconfig, ['--node-name', name, ...flags])

/** Starts the dashboard for a kubeconfig, and waits for its link. */
export async function startDashboard(kubeconfig: string, flags: readonly string[] = []): Promise<{ link: string; stop(): Promise<Ended> }> {
  const started = await untilReady(['dashboard', '--kubeconfig', kubeconfig, ...flags])
  return { link: started.line.split(' ')[1] ?? '', stop: stopper(started) }
}
