import type { Container, ContainerStatus, Pod, Probe } from '../generated/types.ts'
import { millisecondsOf } from '../object.ts'
import { type CauseKind, type Weight, detail } from './cause.ts'

/** The part of a cause that is derived from containers. The pod adds the rest. */
interface ContainerCause {
  what: CauseKind
  weight: Weight
  text: string
  help: string
  /** The first failure that the status still records, if it is known. */
  since?: string
}

/** A container with its status. */
interface Seen {
  /** `container "main"`, `init container "setup"`. */
  called: string
  isInit: boolean
  /** True for an init container that keeps running beside the others (a sidecar). */
  isSidecar: boolean
  spec: Container | undefined
  status: ContainerStatus
}

/** Waiting reasons that every healthy container goes through. */
const startingReasons = new Set<string | undefined>([undefined, 'ContainerCreating', 'PodInitializing'])
const imageReasons = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
])

/** The cause of the first failing container. Init containers run first, so they come first. */
export function containerTrouble(pod: Pod): ContainerCause | undefined {
  for (const seen of containersOf(pod)) {
    const cause = imageCause(seen) ?? waitingCause(seen) ?? crashCause(seen)
    if (cause) return cause
  }
  return undefined
}

function* containersOf({ spec, status }: Pod): Generator<Seen> {
  const see = (one: ContainerStatus, containers: readonly Container[] | undefined, isInit: boolean): Seen => {
    const found = containers?.find(({ name }) => name === one.name)
    const called = `${isInit ? 'init container' : 'container'} ${JSON.stringify(one.name)}`
    return { called, isInit, isSidecar: isInit && found?.restartPolicy === 'Always', spec: found, status: one }
  }
  for (const one of status?.initContainerStatuses ?? []) yield see(one, spec?.initContainers, true)
  for (const one of status?.containerStatuses ?? []) yield see(one, spec?.containers, false)
}

const trouble = (what: CauseKind, text: string, help: string): ContainerCause => ({
  what,
  weight: 'trouble',
  text,
  help,
})

function imageCause({ called, spec, status: { state, image } }: Seen): ContainerCause | undefined {
  const { reason = '', message } = state?.waiting ?? {}
  if (!imageReasons.has(reason)) return undefined
  const name = JSON.stringify(spec?.image ?? image ?? '')
  const text = `cannot pull image ${name} for ${called}${pullError(reason, message)}`
  return trouble(
    'ImagePull',
    text,
    `Check the name and tag of image ${name}, the registry, and the pod's imagePullSecrets.`,
  )
}

/**
 * Kubelets alternate between ErrImagePull and ImagePullBackOff, whose message repeats the error after `ErrImagePull: `.
 * The cause is the same in both states, so conditions do not change with every attempt.
 */
function pullError(reason: string, message: string | undefined): string {
  if (reason === 'ErrImagePull') return detail(undefined, message)
  if (reason !== 'ImagePullBackOff') return detail(reason, message)
  const marker = 'ErrImagePull: '
  const at = message?.indexOf(marker) ?? -1
  if (at >= 0) return detail(undefined, message!.slice(at + marker.length))
  return message?.startsWith('Back-off ') ? '' : detail(undefined, message)
}

function waitingCause({ called, status: { state } }: Seen): ContainerCause | undefined {
  const { reason, message } = state?.waiting ?? {}
  if (startingReasons.has(reason) || reason === 'CrashLoopBackOff') return undefined
  if (reason === 'CreateContainerConfigError') {
    const help = 'Create the ConfigMap, Secret or key that the container refers to, or correct the reference.'
    return trouble('ContainerConfig', `cannot configure ${called}${detail(undefined, message)}`, help)
  }
  const help = 'Check the command, the security context and the mounts of the container.'
  return trouble('ContainerCreate', `cannot start ${called} (${reason})${detail(undefined, message)}`, help)
}

/** A container that failed, or waits for its restart after it ended. */
function crashCause(seen: Seen): ContainerCause | undefined {
  const cause = crashWords(seen)
  const since = cause && crashesSince(seen.status, seen.status.restartCount ?? 0)
  return cause && { ...cause, ...(since ? { since } : {}) }
}

/** After this run time, a container's back-off starts anew, and its earlier failures are ignored. */
const longRunMs = 600_000

/**
 * The first failure that a status still records, by the last run, whose number is given; the first is 0. A short run
 * that was itself a restart began because of an earlier crash.
 */
function crashesSince({ state, lastState }: ContainerStatus, number: number): string | undefined {
  const { startedAt, finishedAt } = state?.terminated ?? lastState?.terminated ?? {}
  if (!finishedAt || !startedAt || number === 0) return finishedAt ?? undefined
  return millisecondsOf(finishedAt) - millisecondsOf(startedAt) > longRunMs ? finishedAt : startedAt
}

function crashWords({ called, status }: Seen): ContainerCause | undefined {
  const { state, lastState } = status
  const isLooping = state?.waiting?.reason === 'CrashLoopBackOff'
  const ended = state?.terminated ?? (isLooping ? lastState?.terminated : undefined)
  if (!isLooping && (!ended || ended.exitCode === 0)) return undefined
  const restarts = restartsOf(status)
  if (ended && startErrors.has(ended.reason ?? '')) {
    const help = 'Check the command, the security context and the mounts of the container.'
    return trouble(
      'ContainerCreate',
      `cannot start ${called} (${ended.reason})${detail(undefined, ended.message)}${restarts}`,
      help,
    )
  }
  if (ended?.reason === 'OOMKilled') {
    const help = 'Raise the memory limit of the container, or make it use less.'
    return trouble('OutOfMemory', `runs out of memory in ${called} (OOMKilled)${restarts}`, help)
  }
  const how = ended
    ? `exit code ${ended.exitCode}${plainReason(ended.reason)}${detail(undefined, ended.message)}`
    : 'it ends at once'
  const help = 'Read its last logs: kubectl logs --previous.'
  if (ended?.exitCode === 0) {
    const text = `ends again and again in ${called}, without an error${restarts}`
    return trouble('CrashLoop', text, 'The container must keep running: check its command.')
  }
  if (restarts || isLooping)
    return trouble('CrashLoop', `crashes again and again in ${called}: ${how}${restarts}`, help)
  return trouble('ContainerFailed', `has lost ${called}: ${how}`, 'Read its last logs: kubectl logs.')
}

/** Reasons of a container whose command could not be started. */
const startErrors = new Set(['StartError', 'ContainerCannotRun'])

/** A pod that is ready but has crashed before may crash again. */
export function crashedBefore(pod: Pod): ContainerCause | undefined {
  for (const { called, status } of containersOf(pod)) {
    const ended = status.lastState?.terminated
    if (!status.restartCount || !ended || ended.exitCode === 0) continue
    const text = `crashes again and again in ${called}: exit code ${ended.exitCode}${plainReason(ended.reason)}${restartsOf(status)}`
    const help = 'Read its last logs: kubectl logs --previous.'
    const since = crashesSince(status, status.restartCount - 1)
    return { ...trouble('CrashLoop', `${text}; it is ready for now`, help), ...(since ? { since } : {}) }
  }
  return undefined
}

const restartsOf = ({ restartCount = 0 }: ContainerStatus): string =>
  restartCount > 0 ? `, restarted ${restartCount} ${restartCount === 1 ? 'time' : 'times'}` : ''

/** `Error` and `Completed` add nothing to the exit code. */
const plainReason = (reason: string | undefined): string =>
  !reason || reason === 'Error' || reason === 'Completed' ? '' : ` (${reason})`

/** The reason why a pod with a running sandbox is not ready although no container fails. */
export function containerDelay(pod: Pod): ContainerCause | undefined {
  const seen = [...containersOf(pod)]
  const main = seen.filter(({ isInit }) => !isInit)
  const first = seen.find(
    ({ isInit, isSidecar, status }) => isInit && status.state?.running && !(isSidecar && status.started),
  )
  if (first && main.every(({ status }) => !status.state?.running)) {
    if (first.isSidecar && first.spec?.startupProbe) return probeCause(first)
    return {
      what: 'Starting',
      weight: 'starting',
      text: `runs its ${first.called}`,
      help: 'Wait for it, or read its logs.',
    }
  }
  if (main.length === 0 || main.some(({ status }) => !status.state?.running)) {
    return {
      what: 'Starting',
      weight: 'starting',
      text: 'waits for its containers to start',
      help: 'Wait: it is starting.',
    }
  }
  const late = main.find(({ status }) => !status.ready)
  return late && probeCause(late)
}

function probeCause({ called, spec, status }: Seen): ContainerCause {
  const startup = spec?.startupProbe
  const ended = status.lastState?.terminated
  const crashes = ended ? `${restartsOf(status)} after exit code ${ended.exitCode}${plainReason(ended.reason)}` : ''
  if (startup && !status.started) {
    const text = `waits for the startup probe (${probeText(startup)}) of ${called}${crashes}`
    return trouble('StartupProbe', text, 'See the Unhealthy events of the pod for what the probe answered.')
  }
  const readiness = spec?.readinessProbe
  if (!readiness)
    return trouble('NotReady', `waits for ${called} to become ready${crashes}`, 'See kubectl describe pod.')
  const text = `waits for the readiness probe (${probeText(readiness)}) of ${called}${crashes}`
  return trouble('ReadinessProbe', text, 'See the Unhealthy events of the pod for what the probe answered.')
}

/** `GET :8080/healthz`, `TCP :5432`, `exec cat /tmp/ready`, `gRPC :9090`. */
function probeText({ httpGet, tcpSocket, grpc, exec }: Probe): string {
  if (httpGet) return `GET :${httpGet.port}${httpGet.path ?? '/'}`
  if (tcpSocket) return `TCP :${tcpSocket.port}`
  if (grpc) return `gRPC :${grpc.port}${grpc.service ? ` ${grpc.service}` : ''}`
  return `exec ${(exec?.command ?? []).join(' ')}`.trim()
}
