import type { Command } from 'commander'
import { type RunMonitorOptions, runMonitor } from '../../cluster/index.ts'
import { addDoorFlags, readDoorFlags } from '../flags/door-flags.ts'
import { something } from '../flags/flag-values.ts'
import { addMonitorChoices, readMonitorChoices } from '../flags/monitor-flags.ts'
import { addMonitorRulesCommand } from './monitor-rules.ts'
import { addServingPartFlags, readPartFlags, runPartCommand } from '../flags/part-flags.ts'

/** Adds the flags of `coxswain monitor`. */
export const addMonitorFlags = (command: Command): Command =>
  addMonitorChoices(
    addDoorFlags(
      addServingPartFlags(command, { flag: '--port', port: 9464 }).option(
        '--data-dir <dir>',
        "directory of the monitor's state",
        something,
        './.coxswain-monitor',
      ),
    ),
  )

/** Reads the flags and the file of --config; the command line wins. */
export async function readMonitorFlags(command: Command, release: string): Promise<RunMonitorOptions> {
  const options = await readPartFlags(command, release)
  const { dataDir } = command.opts<{ dataDir: string }>()
  return { ...options, ...readMonitorChoices(command, 'all'), dataDir, door: readDoorFlags(command) }
}

/** `coxswain monitor`: only the monitor, against any Kubernetes API server. */
export function addMonitorCommand(program: Command, release: string): void {
  const command = addMonitorFlags(
    program
      .command('monitor')
      .description('measure sandbox latencies and the state of workloads of a cluster, and serve metrics'),
  )
  command.action(async () =>
    runPartCommand(await readMonitorFlags(command, release), runMonitor, { portFlag: '--port' }),
  )
  addMonitorRulesCommand(command)
}
