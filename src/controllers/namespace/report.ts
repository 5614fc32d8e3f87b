import type { KubeObject } from '../../api/object.ts'
import type { ResourceType } from '../../client/index.ts'

/** What was found of one kind after its objects were told to go. */
export interface KindReport {
  type: ResourceType
  remaining: readonly KubeObject[]
  /** How long those have that end gracefully. */
  graceSeconds: number
  error: Error | undefined
}

/** What one look at a namespace that is being deleted has found. */
export interface Report {
  /** Of the question which kinds there are. */
  discoveryError: string | undefined
  kinds: readonly KindReport[]
}

/** How long finalizers are thought to take. */
const finalizerSeconds = 15

const finalizersOf = ({ remaining }: KindReport): string[] => remaining.flatMap((object) => object.metadata.finalizers ?? [])

/** Things that are said of a namespace, in the order of their names. */
const counted = (names: Iterable<string>): [string, number][] => {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts]
}

/** `pods. has 2 resource instances`, one for each kind of which something is left. */
export const remainingTexts = ({ kinds }: Report): string[] =>
  kinds
    .filter(({ remaining }) => remaining.length > 0)
    .map(({ type, remaining }) => `${type.plural}.${type.group} has ${remaining.length} resource instances`)
    .sort()

/** `example.com/wait in 2 resource instances` */
export const finalizerTexts = ({ kinds }: Report): string[] =>
  counted(kinds.flatMap(finalizersOf))
    .map(([name, count]) => `${name} in ${count} resource instances`)
    .sort()

/** Why content could not be deleted. What is still there without a reason to be is such a failure, too. */
export const failureTexts = (namespace: string, { kinds }: Report): string[] =>
  kinds
    .flatMap((kind) => {
      if (kind.error) return [kind.error.message]
      if (kind.remaining.length === 0 || kind.graceSeconds > 0 || finalizersOf(kind).length > 0) return []
      return [`unexpected items still remain in namespace: ${namespace} for gvr: ${kind.type.group}/${kind.type.version}, Resource=${kind.type.plural}`]
    })
    .sort()

/** Whether nothing is left, for all one knows. */
export const isEmpty = ({ discoveryError, kinds }: Report): boolean =>
  discoveryError === undefined && kinds.every(({ remaining, error }) => remaining.length === 0 && !error)

/** How many seconds it may take until nothing is left. */
export function secondsLeft({ kinds }: Report): number {
  return Math.max(0, ...kinds.map((kind) => Math.max(kind.graceSeconds, finalizersOf(kind).length > 0 ? finalizerSeconds : 0)))
}
