import { type Command, Option } from 'commander'
import { type Clock, systemClock } from '../base/clock.ts'
import { type Random, systemRandom } from '../base/random.ts'
import { Client, HttpTransport, loadAccess } from '../client/index.ts'
import { exitCodeOf, failureText } from './failure.ts'
import { exitCodes } from '../insight/failure.ts'
import { requestTimeoutMs } from './flags/flag-values.ts'
import { type Output, outputOn } from './terminal/output.ts'

/** The environment of a client command. Tests pass their own. */
export interface Session {
  readonly client: Client
  /** The namespace from the command line or the kubeconfig's context. */
  readonly namespace: string
  readonly clock: Clock
  readonly random: Random
  readonly out: Output
  readonly err: Output
  /** `coxswain` or `kubectl coxswain`: the program's name in messages. */
  readonly program: string
  /** Aborted when the user ends the command with Ctrl-C. */
  readonly signal: AbortSignal
}

/** Writes one line to an output. */
export const say = (output: Output, text: string): void => output.write(`${text}\n`)

/** The values of those flags. */
export interface ConnectionFlags {
  kubeconfig?: string
  context?: string
  cluster?: string
  user?: string
  namespace?: string
  requestTimeout?: number
}

/** Adds the connection flags of kubectl. */
export function addConnectionFlags(command: Command): Command {
  return command
    .configureOutput({
      outputError: (text, write) =>
        write(
          `error: ${text
            .replace(/^error: /, '')
            .trim()
            .replaceAll(/\s*\n\s*/g, ' ')}\n`,
        ),
    })
    .option('-n, --namespace <name>', "the namespace (default: that of the kubeconfig's context)")
    .option('--kubeconfig <file>', 'kubeconfig of the API server (default: $KUBECONFIG or ~/.kube/config, as kubectl)')
    .option('--context <name>', 'context of the kubeconfig to use')
    .addOption(new Option('--cluster <name>', 'cluster of the kubeconfig to use').hideHelp())
    .addOption(new Option('--user <name>', 'user of the kubeconfig to use').hideHelp())
    .option('--request-timeout <duration>', 'time limit of a single request (default: 1m)', requestTimeoutMs)
}

/** Connects according to the flags. */
async function connect(command: Command, release: string): Promise<Pick<Session, 'client' | 'namespace'>> {
  const { kubeconfig, context, cluster, user, namespace, requestTimeout } = command.opts<ConnectionFlags>()
  const access = await loadAccess({ file: kubeconfig, context, cluster, user, namespace })
  const userAgent = `coxswain/${release} (${process.platform}/${process.arch})`
  const transport = new HttpTransport(access, {
    userAgent,
    ...(requestTimeout === undefined ? {} : { requestTimeoutMs: requestTimeout }),
  })
  return { client: new Client(transport), namespace: access.namespace }
}

/** Exits after all output has been written to the pipe. */
async function end(code: number): Promise<never> {
  for (const stream of [process.stdout, process.stderr]) await new Promise((resolve) => stream.write('', resolve))
  process.exit(code)
}

/** Time for a command to end after Ctrl-C. */
const patienceMs = 300

/** Runs a client command and exits with its code. `connecting` returns the connection. */
export async function runSession(
  command: Command,
  release: string,
  work: (session: Session) => Promise<number>,
  connecting: () => Promise<Pick<Session, 'client' | 'namespace'>> = () => connect(command, release),
): Promise<never> {
  const [out, err] = [outputOn(process.stdout, process.env), outputOn(process.stderr, process.env)]
  // Keeps the process alive: timers of the clock do not, and there may be no socket while the server is away.
  const alive = setInterval(() => {}, 60_000)
  const interrupted = new AbortController()
  const interrupt = () => {
    if (interrupted.signal.aborted) process.exit(exitCodes.interrupted)
    interrupted.abort(new Error('interrupted'))
    // Pending requests are not awaited.
    setTimeout(() => process.exit(exitCodes.interrupted), patienceMs)
  }
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt)
  // The reader of the pipe may have closed it.
  process.stdout.on('error', () => process.exit(exitCodes.ok))
  let client: Client | undefined
  const program = rootOf(command).name()
  try {
    const connected = await connecting()
    client = connected.client
    const code = await work({
      ...connected,
      clock: systemClock,
      random: systemRandom,
      out,
      err,
      program,
      signal: interrupted.signal,
    })
    return await end(code)
  } catch (e) {
    if (interrupted.signal.aborted) return await end(exitCodes.interrupted)
    say(err, failureText(e))
    return await end(exitCodeOf(e))
  } finally {
    clearInterval(alive)
    await client?.close()
  }
}

function rootOf(command: Command): Command {
  let root = command
  while (root.parent) root = root.parent
  return root
}
