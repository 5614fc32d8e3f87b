import { hostname } from 'node:os'
import type { FeatureGates } from '../../api/feature-gates.ts'
import { systemClock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { MetricsRegistry } from '../../base/metrics.ts'
import { systemRandom } from '../../base/random.ts'
import {
  Client,
  type ClusterAccess,
  HttpTransport,
  type Role,
  type TermRunner,
  type TermRunnerOptions,
  type Transport,
  leaderIdentity,
  loadAccess,
} from '../../client/index.ts'
import { Health, registerProcessMetrics } from '../../server/index.ts'
import { AccountTransport } from '../serving/account-transport.ts'
import { readCertificates } from '../serving/flag-files.ts'
import { type Pages, type Serving, openMonitoringDoor } from '../serving/monitoring-door.ts'
import { ScrapeGate } from '../serving/scrape-gate.ts'
import { watchLoop } from '../serving/watch-loop.ts'

type Election = NonNullable<TermRunnerOptions['leaderElection']>

/** Options of every part that runs as its own process against an API server. */
export interface PartOptions {
  /** Default: as kubectl finds it, or in-cluster. */
  kubeconfig: string | undefined
  /** Undefined disables leader election. */
  election: Omit<Election, 'identity'> | undefined
  gates: FeatureGates
  bindAddress: string
  securePort: number
  /** Each controller uses its own service account. */
  usesAccounts?: boolean
  /** The address and the authentication of /metrics. Default: a self-signed certificate and no authentication. */
  door?: DoorOptions
  release: string
  logger: Logger
}

export interface DoorOptions {
  serving?: Serving
  /** File with CA certificates for client certificates. */
  clientCaFile?: string
  /** Paths without authentication; undefined disables authentication for all. */
  alwaysAllowPaths?: readonly string[]
}

export interface RunningPart {
  /** True for a part that allocates little: V8's space for new objects keeps its initial size. */
  isSmall?: boolean
  /** Base URL of /livez, /readyz and /metrics. */
  url: string
  /** Resolves once it acts with filled caches, or another process leads. */
  roleKnown(): Promise<Role>
  /** Stops cleanly: finishes pending work and releases the lease. */
  stop(): Promise<void>
}

/** A running part, as seen by its process. */
export type Part = Pick<TermRunner, 'role' | 'problems' | 'start' | 'roleKnown' | 'stop'> &
  Partial<Pick<TermRunner, 'absences'>> & {
    /** Pages served besides metrics. */
    readonly pages?: Pages
  }

/** Dependencies passed to a part. */
export interface PartTools extends Pick<TermRunnerOptions, 'transport' | 'leaderElection' | 'logger'> {
  metrics: MetricsRegistry
  access: ClusterAccess
  /** Fields to log at start. */
  about: Record<string, unknown>
}

/** Runs a part against an API server, which may start later, and serves its health and metrics. */
export async function runPart(
  name: string,
  options: PartOptions,
  make: (tools: PartTools) => Part,
): Promise<RunningPart> {
  const { gates, logger, release, election } = options
  const access = await loadAccess({ file: options.kubeconfig })
  const metrics = new MetricsRegistry()
  registerProcessMetrics(metrics, gates)
  const agent = { userAgent: `coxswain-${name}/${release} (${process.platform}/${process.arch})` }
  const transport = options.usesAccounts
    ? new AccountTransport(access, agent, systemClock)
    : new HttpTransport(access, agent)
  const elected = election
    ? { leaderElection: { ...election, identity: leaderIdentity(hostname(), systemRandom) } }
    : {}
  const about: Record<string, unknown> = {}
  const part = make({ transport, metrics, access, logger, about, ...elected })
  const ready = [
    {
      name,
      check: () => (part.role.kind === 'unknown' ? `${name}: not running yet, and no other process leads` : undefined),
    },
    { name: 'caches', check: () => part.problems().join('; ') || undefined },
  ]
  const health = new Health([], ready)
  health.tell('apis', () => part.absences?.().join('; ') || 'all required APIs are served')
  const door = await openPartDoor(options, part, { health, metrics, transport }).catch(async (e: unknown) => {
    await transport.close()
    throw e
  })
  const stopWatchingLoop = watchLoop(metrics, health)
  const started = part.start()
  // Callers of `roleKnown` see the error; it must not be unhandled otherwise.
  started.catch(() => {})
  logger.info(`running ${name}`, { server: access.server.href, ...about, release })
  return {
    url: door.url,
    async roleKnown() {
      await started
      return part.roleKnown()
    },
    async stop() {
      await part.stop()
      stopWatchingLoop()
      await door.close()
      await transport.close()
    },
  }
}

async function openPartDoor(
  { bindAddress, securePort, door = {}, logger }: PartOptions,
  { pages }: Part,
  told: { health: Health; metrics: MetricsRegistry; transport: Transport },
) {
  const { serving, clientCaFile, alwaysAllowPaths } = door
  const clock = systemClock
  return openMonitoringDoor({
    address: bindAddress,
    port: securePort,
    health: told.health,
    metrics: told.metrics,
    clock,
    logger,
    serving,
    clientAuthorities: clientCaFile === undefined ? [] : [readCertificates('--client-ca-file', clientCaFile)],
    gate:
      alwaysAllowPaths &&
      new ScrapeGate({ client: new Client(told.transport, { clock, random: systemRandom }), clock, alwaysAllowPaths }),
    ...(pages ? { pages } : {}),
  })
}
