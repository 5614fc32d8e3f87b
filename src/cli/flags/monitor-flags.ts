import { type Command, InvalidArgumentError, Option } from 'commander'
import type { MonitorFlags } from '../../cluster/index.ts'
import { bool, count, durationOption, list, secondsList, something } from './flag-values.ts'

/** The monitor flags, shared by all commands that run a monitor, as parsed by commander. */
interface ParsedFlags extends Omit<MonitorFlags, 'creationTimeoutMs'> {
  creationTimeout: number
}

const modeNames = ['pods', 'histograms'] as const

const modes = (text: string) =>
  list(something(text)).map((name) => {
    const mode = modeNames.find((one) => one === name)
    if (!mode) throw new InvalidArgumentError(`must be of ${modeNames.join(', ')}`)
    return mode
  })

const groupForms = 'namespace, runtimeClass, storageClasses, volumes, label:KEY, annotation:KEY'

const truth = (flag: string, what: string) =>
  new Option(`${flag} [bool]`, what).argParser(bool).preset('true').default(true)

/** Adds the flags of the monitor's output and judgement to `coxswain monitor` and `coxswain up`. */
export const addMonitorChoices = (command: Command): Command =>
  command
    .option('--modes <modes>', 'series of the monitor: pods (per pod), histograms (per group of pods)', modes, [
      ...modeNames,
    ])
    .option('--group-by <groups>', `labels of histograms: ${groupForms}`, list, [
      'namespace',
      'runtimeClass',
      'storageClasses',
    ])
    .option(
      '--pod-groups <groups>',
      'labels and annotations of pods that become labels of their series: label:KEY, annotation:KEY',
      list,
      [],
    )
    .option('--bounds <seconds>', 'upper bounds of histograms (default: 0.5 to 600)', secondsList)
    .addOption(
      durationOption(
        '--creation-timeout <duration>',
        'time after scheduling within which a pod must be ready to start containers',
        '5m',
      ),
    )
    .option('--max-groups <number>', 'limit of groups; further pods are counted in the group _other', count, 1000)
    .option('--max-objects <number>', 'limit of objects per kind that have series', count, 100_000)
    .option('--slo-file <file>', 'YAML file of service level objectives for the monitor')
    .option('--cluster <name>', 'value of the label `cluster` of every series of the monitor', something)
    .addOption(truth('--workload-series', 'serve series of workloads; false where kube-state-metrics does so'))
    .addOption(truth('--user-objects', 'read the metadata of ConfigMaps and Secrets, to recognize errors of users'))

/** Reads those flags: all, or only those that are set. */
export function readMonitorChoices(command: Command, which: 'all' | 'set'): MonitorFlags {
  const flags = command.opts<ParsedFlags>()
  const names = [
    'modes',
    'groupBy',
    'podGroups',
    'bounds',
    'maxGroups',
    'maxObjects',
    'sloFile',
    'cluster',
    'workloadSeries',
    'userObjects',
  ] as const
  const isTold = (name: string) => which === 'all' || command.getOptionValueSource(name) !== 'default'
  const told = names
    .filter((name) => flags[name] !== undefined && isTold(name))
    .map((name) => [name, flags[name]] as const)
  return {
    ...(Object.fromEntries(told) as MonitorFlags),
    ...(isTold('creationTimeout') ? { creationTimeoutMs: flags.creationTimeout } : {}),
  }
}
