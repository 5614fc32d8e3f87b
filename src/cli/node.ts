import { type Command, Option } from 'commander'
import { type RunNodesOptions, runNodes } from '../cluster/index.ts'
import { something } from './flag-values.ts'
import { addLocalNodeFlags, readLocalNodeFlags } from './node-flags.ts'
import { addServingPartFlags, readPartFlags, runPartCommand } from './part-flags.ts'

/** The flags of `coxswain node`. */
export const addNodeFlags = (command: Command): Command =>
  addLocalNodeFlags(addServingPartFlags(command))
    .addOption(new Option('--runtime <name>', 'what runs the containers').choices(['simulated', 'process']).default('simulated'))
    .option('--data-dir <dir>', 'where the process runtime keeps pods and their volumes', something, './.coxswain-node')

/** Reads the flags of a command line, and of the file that --config names; the command line wins. */
export async function readNodeFlags(command: Command, release: string): Promise<RunNodesOptions> {
  const options = await readPartFlags(command, release)
  const { runtime, dataDir } = command.opts<Pick<RunNodesOptions, 'runtime' | 'dataDir'>>()
  return { ...options, ...readLocalNodeFlags(command, runtime), dataDir }
}

/** `coxswain node`: one or many nodes, against any API server. */
export function addNodeCommand(program: Command, release: string): void {
  const command = addNodeFlags(program.command('node').description('run nodes against an API server'))
  command.action(async () => runPartCommand(await readNodeFlags(command, release), runNodes))
}
