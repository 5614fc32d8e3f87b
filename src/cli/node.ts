import { hostname } from 'node:os'
import { type Command, Option } from 'commander'
import { type RunNodesOptions, runNodes } from '../cluster/index.ts'
import { count } from './flag-values.ts'
import { addServingPartFlags, readPartFlags, runPartCommand } from './part-flags.ts'

/** The flags of `coxswain node`. */
export const addNodeFlags = (command: Command): Command =>
  addServingPartFlags(command)
    .option('--node-name <name>', "the node's name; of many, NAME-0, NAME-1 and so on", hostname().toLowerCase())
    .option('--nodes <number>', 'how many nodes to run in this process', count, 1)
    .addOption(new Option('--runtime <name>', 'what runs the containers').choices(['simulated', 'process']).default('simulated'))
    .option('--data-dir <dir>', 'where the process runtime keeps pods and their volumes', './.coxswain-node')
    .option('--image-catalogue <file>', 'YAML file that says what the process runtime runs for images')

/** Reads the flags of a command line, and of the file that --config names; the command line wins. */
export async function readNodeFlags(command: Command, release: string): Promise<RunNodesOptions> {
  const options = await readPartFlags(command, release)
  const { nodeName, nodes, runtime, dataDir, imageCatalogue } = command.opts<Pick<RunNodesOptions, 'nodeName' | 'nodes' | 'runtime' | 'dataDir' | 'imageCatalogue'>>()
  if (runtime === 'process' && nodes > 1) throw new Error('--nodes: this machine is one node; only simulated ones can be many')
  return { ...options, nodeName, nodes, runtime, dataDir, ...(imageCatalogue ? { imageCatalogue } : {}) }
}

/** `coxswain node`: one or many nodes, against any API server. */
export function addNodeCommand(program: Command, release: string): void {
  const command = addNodeFlags(program.command('node').description('run nodes against an API server'))
  command.action(async () => runPartCommand(await readNodeFlags(command, release), runNodes))
}
