import { notFound } from '../../api/errors.ts'
import { type ResourceType, type SharedInformer, discover, isNotFound } from '../../client/index.ts'
import { CommandError, exitCodes, isUnknownPath, noResourceType } from '../../insight/failure.ts'
import { sayFailure } from '../rollout/status.ts'
import { type Session, say } from '../session.ts'
import { oneLine } from '../terminal/line.ts'
import { explainWorkload } from '../../insight/workload/explanation.ts'
import { Bell, Watches, checkUntil } from '../workload/follow.ts'
import { type WorkloadKind, fullName } from '../../insight/workload/kinds.ts'
import type { Workload } from '../../insight/workload/object.ts'
import { findKind, isKindName, parseNames } from '../workload/names.ts'
import { type Met, type Outcome, metBy, parseOutcome } from './outcome.ts'

export interface WaitOptions {
  args: readonly string[]
  /** The desired outcome. */
  for: string
  /** Further outcomes that end the wait, in the order of their exit codes. */
  or: readonly string[]
  /** 0 checks once. */
  timeoutMs: number
}

/** An object to wait for. */
interface Awaited {
  names: Pick<WorkloadKind, 'type' | 'singular'>
  /** The kind, for explanations; undefined if it is not a workload. */
  kind: WorkloadKind | undefined
  name: string
  /** The object as last read. */
  object: Workload | undefined
  /** The uid of the object when it was first seen. */
  uid?: string | undefined
  informer?: SharedInformer<Workload>
}

/** `coxswain wait`: waits for the first of several outcomes. The exit code shows which one it was. */
export async function runWait(session: Session, options: WaitOptions): Promise<number> {
  const outcomes = [options.for, ...options.or].map(parseOutcome)
  const awaited = await awaitedObjects(session, options.args)
  await Promise.all(awaited.map((one) => read(session, one, outcomes)))
  const isRepeated = options.timeoutMs > 0
  const deadlineMs = session.clock.now() + options.timeoutMs
  const bell = new Bell()
  const watches = new Watches(session, bell)
  let pending = awaited
  try {
    return await checkUntil(
      session,
      bell,
      () => Math.min(tickMs, deadlineMs - session.clock.now()),
      async () => {
        const left: Awaited[] = []
        for (const one of pending) {
          const code = await check(session, one, outcomes)
          if (code === undefined) left.push(one)
          else if (code !== exitCodes.ok) return code
        }
        pending = left
        if (pending.length === 0) return exitCodes.ok
        if (!isRepeated || session.clock.now() >= deadlineMs) return giveUp(session, pending, outcomes, isRepeated)
        for (const one of pending) one.informer ??= watches.follow(one.names.type, scopeOf(session, one))
        return undefined
      },
    )
  } finally {
    watches.stop()
  }
}

const tickMs = 1000

const scopeOf = ({ namespace }: Session, { names, name }: Awaited) => ({
  ...(names.type.namespaced ? { namespace } : {}),
  fieldSelector: `metadata.name=${name}`,
})

async function awaitedObjects({ client }: Session, args: readonly string[]): Promise<Awaited[]> {
  const named = parseNames(args)
  if (named.length === 0) throw new CommandError('required resource not specified')
  const served = named.some(({ kind }) => !findKind(kind)) ? (await discover(client)).resources : []
  return named.map(({ kind: text, name }) => {
    if (name === undefined) throw new CommandError('resource name must be provided')
    const kind = findKind(text)
    if (kind) return { names: kind, kind, name, object: undefined }
    const resource = served.find((one) => one.isPreferred && isKindName(text, { ...one, type: one }))
    if (!resource) throw noResourceType(text)
    const type = resource as ResourceType<Workload>
    return {
      names: { type, singular: resource.singular || resource.kind.toLowerCase() },
      kind: undefined,
      name,
      object: undefined,
    }
  })
}

/** Reads the object. It must exist unless its creation or deletion is awaited. */
async function read({ client, namespace }: Session, one: Awaited, outcomes: readonly Outcome[]): Promise<void> {
  try {
    one.object = await client.get(one.names.type, namespace, one.name)
  } catch (e) {
    if (isUnknownPath(e)) throw noResourceType(one.names.singular)
    if (!isNotFound(e) || !mayBeAbsent(outcomes)) throw e
    one.object = undefined
  }
}

const mayBeAbsent = (outcomes: readonly Outcome[]): boolean =>
  outcomes.some(({ kind }) => kind === 'create' || kind === 'delete')

/** Returns the exit code of the outcome that was met; undefined if none was. */
async function check(session: Session, one: Awaited, outcomes: readonly Outcome[]): Promise<number | undefined> {
  const {
    informer,
    names: { type },
    name,
  } = one
  if (informer) {
    const key = type.namespaced ? `${session.namespace}/${name}` : name
    // Without permission to watch, the object is read each time.
    if (informer.hasSynced) one.object = informer.get(key)
    else await read(session, one, outcomes)
  }
  one.uid ??= one.object?.metadata.uid
  if (!one.object && !mayBeAbsent(outcomes)) throw notFound({ group: type.group, resource: type.plural }, name)
  for (const [i, outcome] of outcomes.entries()) {
    const met = metBy(outcome, one.object, one.uid)
    if (!met) continue
    say(session.out, metText(one, outcome, met, outcomes.length > 1))
    return i === 0 ? exitCodes.ok : exitCodes.firstAlternative + i - 1
  }
  return undefined
}

/** Formats the result: `job.batch/import condition met`, and with several outcomes also which one and why. */
function metText({ names, name }: Awaited, { text, kind }: Outcome, { detail }: Met, isOneOfSeveral: boolean): string {
  const what = kind === 'delete' ? 'deleted' : 'condition met'
  return `${fullName(names, name)} ${what}${isOneOfSeveral ? ` (${text})${detail ? `: ${oneLine(detail)}` : ''}` : ''}`
}

async function giveUp(
  session: Session,
  pending: readonly Awaited[],
  outcomes: readonly Outcome[],
  isRepeated: boolean,
): Promise<number> {
  const what = outcomes.map(({ text }) => text).join(' or ')
  for (const {
    names: { type },
    kind,
    name,
    object,
  } of pending) {
    const text = isRepeated
      ? `timed out waiting for ${what} on ${type.plural}/${name}`
      : `${what} not met for ${type.plural}/${name}`
    if (kind && object) await sayFailure(session, text, await explainWorkload(session, kind, object))
    else say(session.err, `error: ${text}`)
    for (const missing of object ? missingConditions(outcomes, object) : [])
      say(session.err, `${type.plural}/${name} has no condition ${missing}${typesText(object!)}.`)
  }
  return exitCodes.timedOut
}

/** Returns awaited conditions that no controller writes: of another kind, or of a disabled feature. */
const missingConditions = (outcomes: readonly Outcome[], { status }: Workload): string[] =>
  outcomes.flatMap((outcome) => {
    if (outcome.kind !== 'condition') return []
    const wanted = outcome.type.toLowerCase()
    return status?.conditions?.some(({ type }) => type.toLowerCase() === wanted) ? [] : [outcome.type]
  })

function typesText({ status }: Workload): string {
  const types = (status?.conditions ?? []).map(({ type }) => type)
  return types.length > 0 ? `; it has ${types.join(', ')}` : ', nor any other'
}
