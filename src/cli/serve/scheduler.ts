import type { Command } from 'commander'
import { type RunSchedulerOptions, runScheduler } from '../../cluster/index.ts'
import { percentage } from '../flags/flag-values.ts'
import { addPartFlags, readPartFlags, runPartCommand } from '../flags/part-flags.ts'

/** Adds the flags of `coxswain scheduler`. */
export const addSchedulerFlags = (command: Command): Command =>
  addPartFlags(command, 'kube-scheduler')
    .option('--scheduler-name <name>', 'only pods with this schedulerName are scheduled', 'default-scheduler')
    .option(
      '--percentage-of-nodes-to-score <percent>',
      'percentage of feasible nodes to score; 0 adapts to the number of nodes',
      percentage,
      0,
    )

/** Reads the flags and the file of --config; the command line wins. */
export async function readSchedulerFlags(command: Command, release: string): Promise<RunSchedulerOptions> {
  const options = await readPartFlags(command, release)
  const { schedulerName, percentageOfNodesToScore } =
    command.opts<Pick<RunSchedulerOptions, 'schedulerName' | 'percentageOfNodesToScore'>>()
  return { ...options, schedulerName, percentageOfNodesToScore }
}

/** `coxswain scheduler`: only the scheduler, against any API server. */
export function addSchedulerCommand(program: Command, release: string): void {
  const command = addSchedulerFlags(program.command('scheduler').description('run the scheduler against an API server'))
  command.action(async () => runPartCommand(await readSchedulerFlags(command, release), runScheduler))
}
