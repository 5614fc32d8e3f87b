import type { Pod } from '../../../src/api/generated/types.ts'
import { claimNamesOf } from '../../../src/api/kinds/volumes/volume-references.ts'
import type { Verdict } from '../invariant.ts'
import type { Surroundings } from './knowledge.ts'

/** A generated or numbered name: words of a sentence have no hyphen. */
const name = '"?([a-z0-9][a-z0-9.]*(?:-[a-z0-9.]+)*-[a-z0-9]+)"?'
const patterns = {
  // One that is yet to be made is not there. The whole name counts: not a-1 of a-12.
  pod: new RegExp(`\\b[Pp]od ${name}(?![.-]?[a-z0-9]|"? is (?:being )?made)`, 'g'),
  blocker: new RegExp(`\\bPod ${name}`, 'g'),
  claim: new RegExp(`\\b[Cc]laim ${name}`, 'g'),
  set: new RegExp(`\\b(?:ReplicaSet|replica set) ${name}`, 'g'),
  node: /\b[Nn]ode "?(n[0-9]+)"?/g,
}

const namesIn = (pattern: RegExp, message: string): string[] => [...message.matchAll(pattern)].map(([, found]) => found!)

/** The pods that a message has a sentence about. */
export const blockersIn = (message: string | undefined): string[] => namesIn(patterns.blocker, message ?? '')

/** True if everything that a message names was there for who wrote it, in one of the ways it may have seen it. */
export function judgeNames(message: string | undefined, views: readonly Surroundings[]): Verdict {
  if (!message) return undefined
  const isKnown = (isIt: (around: Surroundings) => boolean) => views.some(isIt)
  const pod = namesIn(patterns.pod, message).find((found) => !isKnown(({ pods }) => pods.some(({ metadata }) => metadata.name === found)))
  if (pod) return `names pod ${pod}, which is not there`
  const usesClaim = (found: string) => (some: Pod) => claimNamesOf(some).includes(found)
  const claim = namesIn(patterns.claim, message).find((found) => !isKnown(({ pods, claims }) => claims.some(({ metadata }) => metadata.name === found) || pods.some(usesClaim(found))))
  if (claim) return `names claim ${claim}, which is not there`
  const set = namesIn(patterns.set, message).find((found) => !isKnown(({ sets }) => sets.some(({ metadata }) => metadata.name === found)))
  if (set && !message.startsWith('Failed to create')) return `names ReplicaSet ${set}, which is not there`
  const isOn = (found: string) => ({ nodes, pods }: Surroundings) => nodes.some(({ metadata }) => metadata.name === found) || pods.some(({ spec }) => spec.nodeName === found)
  const node = namesIn(patterns.node, message).find((found) => !isKnown(isOn(found)))
  return node && `names node ${node}, which is not there`
}
