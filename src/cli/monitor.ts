import { type Command, InvalidArgumentError } from 'commander'
import { type RunMonitorOptions, runMonitor } from '../cluster/index.ts'
import { count, durationMs, list, secondsList } from './flag-values.ts'
import { addMonitorRulesCommand } from './monitor-rules.ts'
import { addServingPartFlags, readPartFlags, runPartCommand } from './part-flags.ts'

/** What commander makes of the flags that only the monitor has. */
interface ParsedFlags extends Pick<RunMonitorOptions, 'dataDir' | 'modes' | 'groupBy' | 'podGroups' | 'bounds' | 'maxGroups' | 'maxObjects' | 'sloFile'> {
  creationTimeout: number
}

const modeNames = ['pods', 'histograms'] as const

const modes = (text: string) =>
  list(text).map((name) => {
    const mode = modeNames.find((one) => one === name)
    if (!mode) throw new InvalidArgumentError(`must be of ${modeNames.join(', ')}`)
    return mode
  })

/** The flags of `coxswain monitor`. */
export const addMonitorFlags = (command: Command): Command =>
  addServingPartFlags(command, { flag: '--port', port: 9464 })
    .option('--data-dir <dir>', 'where it keeps what it has to remember', './.coxswain-monitor')
    .option('--modes <modes>', 'pods: series for every pod; histograms: by groups of pods', modes, [...modeNames])
    .option('--group-by <groups>', 'what histograms are told apart by: namespace, runtimeClass, storageClasses, volumes, label:KEY, annotation:KEY', list, ['namespace', 'runtimeClass', 'storageClasses'])
    .option('--pod-groups <groups>', 'labels and annotations of pods that are told with them: label:KEY, annotation:KEY', list, [])
    .option('--bounds <seconds>', 'upper bounds of histograms (default: 0.5 to 600)', secondsList)
    .option('--creation-timeout <duration>', 'a pod that is not ready to start containers so long after it was scheduled has failed', durationMs, durationMs('5m'))
    .option('--max-groups <number>', 'what is of more groups than this counts as of group _other', count, 1000)
    .option('--max-objects <number>', 'more objects of a kind than this have no series', count, 100_000)
    .option('--slo-file <file>', 'YAML file of objectives')

/** Reads the flags of a command line, and of the file that --config names; the command line wins. */
export async function readMonitorFlags(command: Command, release: string): Promise<RunMonitorOptions> {
  const options = await readPartFlags(command, release)
  const { dataDir, modes: chosen, groupBy, podGroups, bounds, creationTimeout, maxGroups, maxObjects, sloFile } = command.opts<ParsedFlags>()
  const choices = { modes: chosen!, groupBy: groupBy!, podGroups: podGroups!, creationTimeoutMs: creationTimeout, maxGroups: maxGroups!, maxObjects: maxObjects! }
  return { ...options, ...choices, dataDir, ...(bounds ? { bounds } : {}), ...(sloFile === undefined ? {} : { sloFile }) }
}

/** `coxswain monitor`: the monitor alone, against any API server of Kubernetes. */
export function addMonitorCommand(program: Command, release: string): void {
  const command = addMonitorFlags(program.command('monitor').description('watch how long pods wait for their sandboxes, against an API server'))
  command.action(async () => runPartCommand(await readMonitorFlags(command, release), runMonitor))
  addMonitorRulesCommand(command)
}
