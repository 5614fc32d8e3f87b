import { type Command, InvalidArgumentError, Option } from 'commander'
import { type RunNodesOptions, runNodes } from '../cluster/index.ts'
import { something } from './flag-values.ts'
import { addLocalNodeFlags, readLocalNodeFlags } from './node-flags.ts'
import { addServingPartFlags, readPartFlags, runPartCommand } from './part-flags.ts'

interface JoinOptions {
  join?: boolean
  server?: URL
  token?: string
  caCertHash?: string[]
}

const serverUrl = (text: string): URL => {
  if (!URL.canParse(text) || !text.startsWith('https://')) throw new InvalidArgumentError('must be an https URL')
  return new URL(text)
}

const bootstrapToken = (text: string): string => {
  const isToken = /^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(text)
  if (!isToken) throw new InvalidArgumentError('must be ID.SECRET of a bootstrap token')
  return text
}

const caHash = (text: string, before: readonly string[] = []): string[] => {
  if (!/^sha256:[0-9a-f]{64}$/i.test(text)) throw new InvalidArgumentError('must be sha256: and 64 hexadecimal digits')
  return [...before, text.toLowerCase()]
}

function readJoin(flags: JoinOptions, kubeconfig: string | undefined, nodes: number): RunNodesOptions['join'] {
  const { join, server, token, caCertHash: caCertHashes = [] } = flags
  if (!join) {
    const isGiven = server || token || caCertHashes.length > 0
    if (isGiven) throw new Error('--server, --token and --ca-cert-hash: only with --join')
    return undefined
  }
  if (!server) throw new Error('--join: needs --server')
  if (kubeconfig) throw new Error('--join: makes a kubeconfig of its own, so --kubeconfig cannot be given')
  if (nodes > 1) throw new Error('--join: one node joins at a time; --nodes must be 1')
  return { server, token, caCertHashes }
}

/** The flags of `coxswain node`. */
export const addNodeFlags = (command: Command): Command =>
  addLocalNodeFlags(addServingPartFlags(command))
    .addOption(new Option('--runtime <name>', 'what runs the containers').choices(['simulated', 'process']).default('simulated'))
    .option('--join', 'join the cluster of --server with a bootstrap token, which is needed once')
    .option('--server <url>', 'the API server to join', serverUrl)
    .option('--token <id.secret>', 'bootstrap token', bootstrapToken)
    .option('--ca-cert-hash <hash>', "sha256:HEX of the public key of the server's authority; may be repeated", caHash)
    .option('--data-dir <dir>', 'where the process runtime keeps pods and their volumes', something, './.coxswain-node')

/** Reads the flags of a command line, and of the file that --config names; the command line wins. */
export async function readNodeFlags(command: Command, release: string): Promise<RunNodesOptions> {
  const options = await readPartFlags(command, release)
  const { runtime, dataDir } = command.opts<Pick<RunNodesOptions, 'runtime' | 'dataDir'>>()
  const local = readLocalNodeFlags(command, runtime)
  const join = readJoin(command.opts<JoinOptions>(), options.kubeconfig, local.nodes)
  return { ...options, ...local, dataDir, ...(join ? { join } : {}) }
}

/** `coxswain node`: one or many nodes, against any API server. */
export function addNodeCommand(program: Command, release: string): void {
  const command = addNodeFlags(program.command('node').description('run nodes against an API server'))
  command.action(async () => runPartCommand(await readNodeFlags(command, release), runNodes))
}
