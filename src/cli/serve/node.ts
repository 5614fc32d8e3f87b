import { type Command, Option } from 'commander'
import { type RunNodesOptions, runNodes } from '../../cluster/index.ts'
import { something } from '../flags/flag-values.ts'
import { type ParsedJoinFlags, addJoinFlags } from '../flags/join-flags.ts'
import { addLocalNodeFlags, readLocalNodeFlags } from '../flags/node-flags.ts'
import { addServingPartFlags, readPartFlags, runPartCommand } from '../flags/part-flags.ts'

function readJoin(flags: ParsedJoinFlags, kubeconfig: string | undefined, nodes: number): RunNodesOptions['join'] {
  const { join, server: servers = [], token, caCertHash: caCertHashes = [] } = flags
  const [server, ...otherServers] = servers
  if (!join) {
    const isGiven = server || token || caCertHashes.length > 0
    if (isGiven) throw new Error('--server, --token and --ca-cert-hash: only with --join')
    return undefined
  }
  if (!server) throw new Error('--join: needs --server')
  if (kubeconfig) throw new Error('--join: writes its own kubeconfig, so --kubeconfig cannot be specified')
  if (nodes > 1) throw new Error('--join: one node joins at a time; --nodes must be 1')
  return { server, otherServers, token, caCertHashes }
}

/** Adds the flags of `coxswain node`. */
const addNodeFlags = (command: Command): Command =>
  addJoinFlags(
    addLocalNodeFlags(addServingPartFlags(command)),
    'join the cluster of --server with a bootstrap token; needed once',
  )
    .addOption(
      new Option('--runtime <name>', 'container runtime')
        .choices(['simulated', 'process', 'cri', 'auto'])
        .default('simulated'),
    )
    .option('--data-dir <dir>', 'directory of pods and their volumes', something, './.coxswain-node')

/** Reads the flags and the file of --config; the command line wins. */
async function readNodeFlags(command: Command, release: string): Promise<RunNodesOptions> {
  const options = await readPartFlags(command, release)
  const { runtime, dataDir } = command.opts<Pick<RunNodesOptions, 'runtime' | 'dataDir'>>()
  const local = readLocalNodeFlags(command, runtime)
  const join = readJoin(command.opts<ParsedJoinFlags>(), options.kubeconfig, local.nodes)
  return { ...options, ...local, dataDir, ...(join ? { join } : {}) }
}

/** `coxswain node`: one or many nodes, against any API server. */
export function addNodeCommand(program: Command, release: string): void {
  const command = addNodeFlags(program.command('node').description('run nodes against an API server'))
  command.action(async () => runPartCommand(await readNodeFlags(command, release), runNodes))
}
