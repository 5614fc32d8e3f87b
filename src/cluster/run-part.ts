import { hostname } from 'node:os'
import type { FeatureGates } from '../api/feature-gates.ts'
import { systemClock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import { MetricsRegistry } from '../base/metrics.ts'
import { systemRandom } from '../base/random.ts'
import {
  Client, type ClusterAccess, HttpTransport, type Role, type TermRunner, type TermRunnerOptions, type Transport, leaderIdentity, loadAccess,
} from '../client/index.ts'
import { Health, registerProcessMetrics } from '../server/index.ts'
import { AccountTransport } from './account-transport.ts'
import { readCertificates } from './flag-files.ts'
import { type Pages, type Serving, openMonitoringDoor } from './monitoring-door.ts'
import { ScrapeGate } from './scrape-gate.ts'
import { watchLoop } from './watch-loop.ts'

type Election = NonNullable<TermRunnerOptions['leaderElection']>

/** What every part says that runs on its own against an API server. */
export interface PartOptions {
  /** Undefined: as kubectl finds it, or as a pod of the cluster. */
  kubeconfig: string | undefined
  /** Undefined: acts without an election. */
  election: Omit<Election, 'identity'> | undefined
  gates: FeatureGates
  bindAddress: string
  securePort: number
  /** Each controller acts as a service account of its own. */
  usesAccounts?: boolean
  /** How /metrics is served and to whom; by default with a certificate of its own, to whoever reaches it. */
  door?: DoorOptions
  release: string
  logger: Logger
}

export interface DoorOptions {
  serving?: Serving
  /** A file of certificates that client certificates may be signed by. */
  clientCaFile?: string
  /** Paths for which nobody is asked who they are; undefined if nobody ever is. */
  alwaysAllowPaths?: readonly string[]
}

export interface RunningPart {
  /** Where /livez, /readyz and /metrics are. */
  url: string
  /** Resolves once it acts with filled caches, or another process leads. */
  roleKnown(): Promise<Role>
  /** Ends cleanly: what is under way is finished, the lease is given up. */
  stop(): Promise<void>
}

/** What runs, as far as it matters to who runs it. */
export type Part = Pick<TermRunner, 'role' | 'problems' | 'start' | 'roleKnown' | 'stop'> & Partial<Pick<TermRunner, 'absences'>> & {
  /** What it serves besides metrics. */
  readonly pages?: Pages
}

/** What a part is made of. */
export interface PartTools extends Pick<TermRunnerOptions, 'transport' | 'leaderElection' | 'logger'> {
  metrics: MetricsRegistry
  access: ClusterAccess
  /** What is put in here is logged when it runs. */
  about: Record<string, unknown>
}

/** Runs a part against an API server, which need not be there yet, and tells how it is. */
export async function runPart(name: string, options: PartOptions, make: (tools: PartTools) => Part): Promise<RunningPart> {
  const { gates, logger, release, election } = options
  const access = await loadAccess({ file: options.kubeconfig })
  const metrics = new MetricsRegistry()
  registerProcessMetrics(metrics, gates)
  const agent = { userAgent: `coxswain-${name}/${release} (${process.platform}/${process.arch})` }
  const transport = options.usesAccounts ? new AccountTransport(access, agent, systemClock) : new HttpTransport(access, agent)
  const elected = election ? { leaderElection: { ...election, identity: leaderIdentity(hostname(), systemRandom) } } : {}
  const about: Record<string, unknown> = {}
  const part = make({ transport, metrics, access, logger, about, ...elected })
  const ready = [
    { name, check: () => (part.role.kind === 'unknown' ? `${name}: not running yet, and no other process leads` : undefined) },
    { name: 'caches', check: () => part.problems().join('; ') || undefined },
  ]
  const health = new Health([], ready)
  health.tell('apis', () => part.absences?.().join('; ') || 'all that are read are served')
  const door = await openPartDoor(options, part, { health, metrics, transport }).catch(async (e: unknown) => {
    await transport.close()
    throw e
  })
  const stopWatchingLoop = watchLoop(metrics, health)
  const started = part.start()
  // Whoever waits for the role hears of it; nobody has to.
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

async function openPartDoor({ bindAddress, securePort, door = {}, logger }: PartOptions, { pages }: Part, told: { health: Health; metrics: MetricsRegistry; transport: Transport }) {
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
    gate: alwaysAllowPaths && new ScrapeGate({ client: new Client(told.transport, { clock, random: systemRandom }), clock, alwaysAllowPaths }),
    ...(pages ? { pages } : {}),
  })
}
