import type { Container, EphemeralContainer, PodSpec, Volume } from '../generated/types.ts'

/** A pod that the restricted level allows in every version, with one container of each sort. For tests. */
export interface SamplePod {
  metadata: { name: string; annotations?: Record<string, string> }
  spec: PodSpec
}

const container = (name: string) => ({
  name,
  image: 'i',
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
})

export const goodPod = (): SamplePod => ({
  metadata: { name: 'p' },
  spec: {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    initContainers: [container('a')] as Container[],
    containers: [container('b')] as Container[],
    ephemeralContainers: [container('c')] as EphemeralContainer[],
  },
})

/** The message of versions from `since` on and before `until`. */
export interface Expected {
  since?: number
  until?: number
  text: string
}

/** A pod and the messages of each level. Empty if the level allows it. */
export interface Row {
  name: string
  pod: SamplePod
  baseline: readonly Expected[]
  restricted: readonly Expected[]
}

type Words = string | Expected | readonly Expected[]

const expected = (words: Words | undefined): readonly Expected[] => {
  if (words === undefined) return []
  if (typeof words === 'string') return [{ text: words }]
  return Array.isArray(words) ? words : [words as Expected]
}

/** The messages of each level for a change of one field. `restricted` defaults to `baseline`. */
interface LevelWords {
  baseline?: Words
  restricted?: Words
}

/** `{who}` is replaced by the container or containers, `{uses}` by the verb. */
type ContainerChange = [name: string, fields: object, words?: LevelWords]
type PodChange = [name: string, change: (pod: SamplePod) => void, words?: LevelWords]

/** Merges objects and replaces all other values. */
function merge(into: Record<string, any>, fields: Record<string, any>): void {
  for (const [key, value] of Object.entries(fields)) {
    const isMergeable =
      value && typeof value === 'object' && !Array.isArray(value) && into[key] && typeof into[key] === 'object'
    if (isMergeable) merge(into[key], value)
    else into[key] = value
  }
}

const places: readonly (readonly string[])[] = [['a'], ['b'], ['c'], ['a', 'b']]

/** Pods with a changed container: of each sort, and two of them. */
export const containerRows = (changes: readonly ContainerChange[]): Row[] =>
  changes.flatMap(([name, fields, words = {}]) =>
    places.map((names) => {
      const pod = goodPod()
      const all = [...pod.spec.initContainers!, ...pod.spec.containers, ...pod.spec.ephemeralContainers!]
      for (const one of all) if (names.includes(one.name)) merge(one, structuredClone(fields))
      const who = names.length === 1 ? `container "${names[0]}"` : `containers ${names.map((n) => `"${n}"`).join(', ')}`
      const fill = (list: readonly Expected[]) =>
        list.map((e) => ({
          ...e,
          text: e.text.replaceAll('{who}', who).replace('{uses}', names.length === 1 ? 'uses' : 'use'),
        }))
      const baseline = fill(expected(words.baseline))
      return {
        name: `${name}, ${who}`,
        pod,
        baseline,
        restricted: words.restricted === undefined ? baseline : fill(expected(words.restricted)),
      }
    }),
  )

export const podRows = (changes: readonly PodChange[]): Row[] =>
  changes.map(([name, change, words = {}]) => {
    const pod = goodPod()
    change(pod)
    const baseline = expected(words.baseline)
    return { name, pod, baseline, restricted: words.restricted === undefined ? baseline : expected(words.restricted) }
  })

/** A change that gives the pod these fields. */
export const withSpec = (fields: object) => (pod: SamplePod) => merge(pod.spec, structuredClone(fields))
export const withVolumes = (...volumes: object[]) => withSpec({ volumes: volumes as Volume[] })
export const withAnnotations = (annotations: Record<string, string>) => (pod: SamplePod) =>
  void (pod.metadata.annotations = annotations)
