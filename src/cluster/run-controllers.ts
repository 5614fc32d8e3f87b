import { hostname } from 'node:os'
import type { FeatureGates } from '../api/feature-gates.ts'
import { systemClock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import { MetricsRegistry } from '../base/metrics.ts'
import { systemRandom } from '../base/random.ts'
import { HttpTransport, type Role, leaderIdentity, loadAccess } from '../client/index.ts'
import { type ManagedController, ControllerManager, type ControllerManagerOptions, selectControllers } from '../controllers/index.ts'
import { Health, registerProcessMetrics } from '../server/index.ts'
import { readCertificates } from './flag-files.ts'
import { openMonitoringDoor } from './monitoring-door.ts'

type Election = NonNullable<ControllerManagerOptions['leaderElection']>

export interface RunControllersOptions {
  /** Undefined: as kubectl finds it, or as a pod of the cluster. */
  kubeconfig: string | undefined
  /** `*`, names, and names with a `-` before them. */
  selection: readonly string[]
  /** Undefined: acts without an election. */
  election: Omit<Election, 'identity'> | undefined
  /** How many owners are worked on at the same time, by the controller's name. */
  workers: ReadonlyMap<string, number>
  gates: FeatureGates
  bindAddress: string
  securePort: number
  /** Undefined: the authority of the kubeconfig. */
  rootCaFile: string | undefined
  /** Below which volumes that are made for claims have their directories, on every node. */
  volumesDir: string
  release: string
  logger: Logger
}

export interface RunningControllers {
  /** Where /livez, /readyz and /metrics are. */
  url: string
  names: readonly string[]
  /** Resolves once the controllers run with filled caches, or another process leads. */
  roleKnown(): Promise<Role>
  /** Ends cleanly: what is under way is finished, the lease is given up. */
  stop(): Promise<void>
}

/** Runs controllers against an API server, which need not be there yet. */
export async function runControllers(options: RunControllersOptions): Promise<RunningControllers> {
  const { gates, logger, release } = options
  const access = await loadAccess({ file: options.kubeconfig })
  const rootCa = options.rootCaFile ? readCertificates('--root-ca-file', options.rootCaFile) : (access.authority() ?? '')
  const selected = selectControllers(options.selection, {
    rootCa,
    timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    volumesDir: options.volumesDir,
  })
  const metrics = new MetricsRegistry()
  registerProcessMetrics(metrics, gates)
  const transport = new HttpTransport(access, { userAgent: `coxswain-controllers/${release} (${process.platform}/${process.arch})` })
  const manager = new ControllerManager({
    transport,
    controllers: withWorkers(selected, options.workers),
    metrics,
    gates,
    logger,
    ...(options.election ? { leaderElection: { ...options.election, identity: leaderIdentity(hostname(), systemRandom) } } : {}),
  })
  const ready = [
    { name: 'controllers', check: () => (manager.role.kind === 'unknown' ? 'the controllers do not run yet, and no other process leads' : undefined) },
    { name: 'caches', check: () => manager.problems().join('; ') || undefined },
  ]
  const door = await openMonitoringDoor({
    address: options.bindAddress,
    port: options.securePort,
    health: new Health([], ready),
    metrics,
    nowMs: systemClock.now(),
  }).catch(async (e: unknown) => {
    await transport.close()
    throw e
  })
  const started = manager.start()
  // Whoever waits for the role hears of it; nobody has to.
  started.catch(() => {})
  const names = [...selected.keys()]
  logger.info('running controllers', { server: access.server.href, controllers: names, release })
  return {
    url: door.url,
    names,
    async roleKnown() {
      await started
      return manager.roleKnown()
    },
    async stop() {
      await manager.stop()
      await door.close()
      await transport.close()
    },
  }
}

function withWorkers(selected: ReadonlyMap<string, readonly ManagedController[]>, workers: ReadonlyMap<string, number>): ManagedController[] {
  return [...selected].flatMap(([name, controllers]) => {
    const wanted = workers.get(name)
    return wanted === undefined ? controllers : controllers.map((controller) => ({ ...controller, workers: wanted }))
  })
}
