import { onTestFinished } from 'vitest'
import { FeatureGates, type GateName } from '../../../src/api/feature-gates.ts'
import { ApiError } from '../../../src/api/errors.ts'
import type { PodTemplateSpec } from '../../../src/api/generated/types.ts'
import { exitCodeOf, failureText } from '../../../src/cli/failure.ts'
import { exitCodes } from '../../../src/insight/failure.ts'
import type { Session } from '../../../src/cli/session.ts'
import { CapturedOutput, type Screen } from '../../../src/cli/terminal/testing.ts'
import {
  type ApiRequest,
  Client,
  type KubeObject,
  type ResourceType,
  type Transport,
  type WatchListener,
} from '../../../src/client/index.ts'
import {
  SeededRandom,
  type TestCluster,
  VirtualClock,
  passTime,
  settled,
  startCluster,
} from '../../../src/cluster/testing.ts'
import { selectControllers } from '../../../src/controllers/index.ts'
import { NodeSources, simulatedNode } from '../../../src/node/index.ts'
import { Scheduler } from '../../../src/scheduler/index.ts'

const controllers = [
  'deployment-controller',
  'replicaset-controller',
  'replicationcontroller-controller',
  'statefulset-controller',
  'daemonset-controller',
  'cloneset-controller',
  'job-controller',
  'cronjob-controller',
  'disruption-controller',
  'garbage-collector-controller',
  'resourcequota-controller',
  'node-lifecycle-controller',
]

/** The output and exit code of a command. */
export interface Ran {
  code: number
  out: string
  err: string
}

/** A transport of a user who may not read some resources, or of a server that does not serve them. */
class NarrowTransport implements Transport {
  readonly #inner: Transport
  readonly #answers: Readonly<Record<string, 403 | 404>>

  constructor(inner: Transport, answers: Readonly<Record<string, 403 | 404>>) {
    this.#inner = inner
    this.#answers = answers
  }

  #refusal({ path }: ApiRequest): ApiError | undefined {
    const [, resource = ''] = /^\/api(?:s\/[^/]+)?\/[^/]+(?:\/namespaces\/[^/]+)?\/([^/]+)/.exec(path) ?? []
    const code = this.#answers[resource]
    if (code === 404) return new ApiError(404, 'NotFound', 'the server could not find the requested resource', {})
    return (
      code &&
      new ApiError(403, 'Forbidden', `${resource} is forbidden: User "jane" cannot list resource "${resource}"`, {
        kind: resource,
      })
    )
  }

  async send<T>(request: ApiRequest): Promise<T> {
    const refusal = this.#refusal(request)
    if (refusal) throw refusal
    return this.#inner.send<T>(request)
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    const refusal = this.#refusal(request)
    if (!refusal) return this.#inner.watch(request, listener)
    queueMicrotask(() => listener.closed(refusal))
    return () => {}
  }

  async close(): Promise<void> {}
}

interface RunOptions {
  /** The server's responses to requests for some resources. */
  answers?: Readonly<Record<string, 403 | 404>>
  /** A terminal instead of a file. */
  screen?: Screen
  /** The time after which Ctrl-C is pressed. */
  interruptAfterMs?: number
  namespace?: string
}

/**
 * A cluster with controllers, a scheduler and one simulated node on a virtual clock, and commands that run against it.
 */
export class CommandScene {
  readonly clock: VirtualClock
  readonly cluster: TestCluster

  private constructor(clock: VirtualClock, cluster: TestCluster) {
    this.clock = clock
    this.cluster = cluster
  }

  static async start(gates: Partial<Record<GateName, boolean>> = {}): Promise<CommandScene> {
    const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
    const random = new SeededRandom(1)
    const settings = { rootCa: '', timeZone: 'UTC', volumesDir: '/volumes' }
    const selected = [...selectControllers(controllers, settings).values()].flat()
    const cluster = await startCluster({ clock, random, gates, controllers: selected })
    const scene = new CommandScene(clock, cluster)
    const { transport } = cluster
    const scheduler = new Scheduler({ transport, clock, random })
    const sources = new NodeSources({ transport, clock, random, nodeName: 'n1' })
    sources.start()
    const agent = simulatedNode({ name: 'n1', index: 1, sources, clock, random, gates: FeatureGates.of() })
    const started = Promise.all([scheduler.start(), agent.start()])
    await scene.pass(1000)
    await started
    onTestFinished(async () => {
      const stopped = Promise.all([agent.stop(), scheduler.stop()])
        .then(() => sources.stop())
        .then(() => cluster.stop())
      await scene.pass(15_000)
      await stopped
    })
    return scene
  }

  pass(ms: number): Promise<void> {
    return passTime(this.clock, ms)
  }

  /** Lets time pass until something is so. */
  async until(what: string, isSo: () => boolean): Promise<void> {
    for (let i = 0; i < 600 && !isSo(); i++) await this.pass(100)
    if (!isSo()) throw new Error(`it did not happen: ${what}`)
  }

  async create(type: ResourceType, object: object): Promise<void> {
    await this.cluster.client.create(type, object as KubeObject)
  }

  /** Runs a command to its end, as the program would, while time passes. */
  async run(command: (session: Session) => Promise<number>, options: RunOptions = {}): Promise<Ran> {
    const [out, err] = [new CapturedOutput(), new CapturedOutput()]
    const { clock } = this
    const interrupted = new AbortController()
    const client = new Client(new NarrowTransport(this.cluster.transport, options.answers ?? {}), { clock })
    const session: Session = {
      client,
      clock,
      err,
      namespace: options.namespace ?? 'default',
      random: new SeededRandom(2),
      out: options.screen ?? out,
      program: 'coxswain',
      signal: interrupted.signal,
    }
    const end: { code?: number } = {}
    const ended = command(session).then(
      (code) => {
        end.code = code
      },
      (e: unknown) => {
        if (!interrupted.signal.aborted) err.write(`${failureText(e)}\n`)
        end.code = interrupted.signal.aborted ? exitCodes.interrupted : exitCodeOf(e)
      },
    )
    const endMs = clock.now() + (options.interruptAfterMs ?? Infinity)
    // An hour of the cluster's time is a command that hangs.
    for (let passedMs = 0; end.code === undefined && passedMs < 3_600_000; passedMs += 100) {
      if (clock.now() >= endMs) interrupted.abort(new Error('interrupted'))
      await settled()
      if (end.code === undefined) await this.pass(100)
    }
    if (end.code === undefined) throw new Error(`the command does not end; it said ${out.text}${err.text}`)
    await ended
    return { code: end.code, out: out.text, err: err.text }
  }
}

/** The template of a pod with one container; annotations are for the simulated runtime. */
export const template = (app: string, image = 'app:1', annotations: Record<string, string> = {}): PodTemplateSpec => ({
  metadata: { labels: { app }, annotations },
  spec: { containers: [{ name: 'main', image, resources: {} }] },
})

/** A workload of any kind with a template. */
export const workload = (name: string, spec: object, annotations: Record<string, string> = {}, image = 'app:1') => ({
  metadata: { name, namespace: 'default' },
  spec: { selector: { matchLabels: { app: name } }, template: template(name, image, annotations), ...spec },
})
