import path from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { systemClock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { Transport } from '../../client/index.ts'
import {
  Monitor,
  type MonitorChoices,
  type Slo,
  SloConsumer,
  SnapshotFile,
  defaultChoices,
  groupForms,
  groupLabel,
  sloNeeds,
} from '../../monitor/index.ts'
import { ownDataDirectory } from '../../store/index.ts'
import { type PartOptions, type RunningPart, runPart } from './run-part.ts'
import { readSlos } from '../tools/slo-tools.ts'

/** Flags of a monitor, in any process. */
export interface MonitorFlags extends Partial<MonitorChoices> {
  /** The file of objectives. */
  sloFile?: string
  /** Value of the label `cluster` in every series. */
  cluster?: string
}

export interface RunMonitorOptions extends PartOptions, MonitorFlags {
  /** Directory for its snapshot. */
  dataDir: string
}

/** Runs the monitor against an API server, which may start later. */
export async function runMonitor(options: RunMonitorOptions): Promise<RunningPart> {
  const { dataDir, logger } = options
  const slos = await readObjectives(options)
  // Little of each pod is kept. A growing space for short-lived objects would be most of the memory of this process.
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=30')
  // Two monitors would overwrite each other's snapshot.
  const release = await ownDataDirectory(dataDir)
  try {
    const part = await runPart('monitor', options, ({ transport, metrics }) =>
      makeMonitor({ choices: options, slos, dataDir, transport, metrics, logger }),
    )
    return { ...part, isSmall: true, stop: () => part.stop().finally(release) }
  } catch (e) {
    await release()
    throw e
  }
}

/** Validates the flags of a monitor and reads its objectives. */
export async function readObjectives({
  sloFile,
  groupBy = [],
  podGroups = [],
  creationTimeoutMs = defaultChoices.creationTimeoutMs,
}: MonitorFlags): Promise<Slo[]> {
  for (const [flag, groups] of [
    ['--group-by', groupBy],
    ['--pod-groups', podGroups],
  ] as const) {
    const wrong = groups.find((group) => groupLabel(group) === undefined)
    if (wrong !== undefined) throw new Error(`${flag}: ${wrong} is none of ${groupForms.join(', ')}`)
  }
  return sloFile === undefined ? [] : readSlos(sloFile, creationTimeoutMs)
}

export interface MakeMonitorOptions {
  choices: MonitorFlags
  slos: readonly Slo[]
  dataDir: string
  transport: Transport
  metrics: MetricsRegistry
  logger: Logger
}

/** Creates a monitor over any transport. */
export function makeMonitor({ choices, slos, dataDir, transport, metrics, logger }: MakeMonitorOptions): Monitor {
  const needs = sloNeeds(slos)
  const told = choices.cluster === undefined ? metrics : metrics.labelled({ cluster: choices.cluster })
  return new Monitor({
    ...choices,
    podGroups: [...(choices.podGroups ?? []), ...needs.podGroups],
    bounds: [...(choices.bounds ?? defaultChoices.bounds), ...needs.bounds],
    transport,
    metrics: told,
    informerMetrics: metrics,
    logger,
    consumers: slos.length > 0 ? [new SloConsumer(slos, systemClock, told)] : [],
    storage: new SnapshotFile(path.join(dataDir, 'monitor.json')),
  })
}
