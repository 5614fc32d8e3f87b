import { volumeTroubles } from './cause.ts'
import type { Due } from './due.ts'
import { whyKept } from './keeping.ts'
import type { Observed } from './observe.ts'
import type { Recovery } from './recovery.ts'

export type Choice =
  | { kind: 'recreate'; recovery: Recovery; why: string; tries: number }
  /** Its claim is the cause, and must not go. */
  | { kind: 'keep'; pod: string; claim: string; why: string; cause: string }

/** The surroundings of a claim when it is judged. */
export type Around = Pick<Observed, 'storage' | 'nodes'> & { allowsRetained: boolean }

/** The first pod for which something can be done; else the first whose claim is in its way and must stay. */
export function choose(due: readonly Due[], around: Around): Choice | undefined {
  let kept: Choice | undefined
  for (const one of due) {
    const choice = one.trouble.what === 'readiness' ? podAlone(one) : withClaims(one, around)
    if (choice?.kind === 'recreate') return choice
    kept ??= choice
  }
  return kept
}

const recoveryOf = ({ member: { pod }, trouble: { since } }: Due, claims: Recovery['claims']): Recovery => ({ pod: pod.metadata.name!, uid: pod.metadata.uid!, since, claims })

const podAlone = (due: Due): Choice => ({
  kind: 'recreate',
  recovery: recoveryOf(due, {}),
  why: `it has a sandbox since ${due.trouble.since} and has not become ready`,
  tries: due.tries,
})

function withClaims(due: Due, { storage, nodes, allowsRetained }: Around): Choice | undefined {
  const { pod } = due.member
  const causes = volumeTroubles(due.member)
  for (const { claim, users, cause } of causes) {
    // Without all of them the pod could not start, and the others would go for nothing.
    const others = users.filter((user) => user.metadata.uid !== pod.metadata.uid)
    const why = whyKept({ pod, claim, others, storage: storage(), nodes: nodes(), allowsRetained })
    if (why !== undefined) return { kind: 'keep', pod: pod.metadata.name!, claim: claim.metadata.name!, why, cause }
  }
  const [first] = causes
  if (!first) return undefined
  const uids = Object.fromEntries(causes.map(({ claim: { metadata } }) => [metadata.name!, metadata.uid!]))
  return {
    kind: 'recreate',
    recovery: recoveryOf(due, uids),
    why: `it has had no sandbox since ${due.trouble.since}: ${first.cause}`,
    tries: due.tries,
  }
}
