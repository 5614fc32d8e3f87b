import { readFileSync } from 'node:fs'
import type { Pod } from '../../api/generated/types.ts'
import { writeWhole } from './write-whole.ts'

/**
 * The first of the user ids that a node gives to pods: above the ranges of systemd, Docker and /etc/subuid, below the
 * largest `runAsUser`.
 */
export const firstPodUser = 1_900_000_000
const podUserCount = 100_000_000

/** The users of so many claims are remembered. */
const mostClaims = 10_000

/** Whether an id of a user or group is one that a node gives to a pod. */
export const isPodUser = (id: number): boolean => id >= firstPodUser && id < firstPodUser + podUserCount

/** Which user the processes of a pod run as, where each pod has its own. */
export interface PodUserSource {
  /** The pod's user id, which is its group id too; undefined where pods run as the node's own user. */
  of(pod: Pod): Promise<number | undefined>
  /** The pod is gone. */
  release(uid: string): void
}

/** For nodes whose pods have no user of their own. */
export const noPodUsers: PodUserSource = { of: async () => undefined, release: () => {} }

interface Book {
  next: number
  /** User ids by `pod UID` and `claim NAMESPACE/NAME`. */
  users: Record<string, number>
}

/**
 * The users of a node's pods, kept in a file. A user id is handed out once until the range has gone round. Pods that
 * mount the same claim share a user, so that a pod can write what its predecessor wrote.
 */
export class PodUsers implements PodUserSource {
  readonly #file: string
  readonly #isolates: () => Promise<boolean>
  readonly #book: Book

  /** `isolates` says whether the runtime can give pods users of their own. */
  constructor(file: string, isolates: () => Promise<boolean>) {
    this.#file = file
    this.#isolates = isolates
    this.#book = readBook(file)
  }

  async of(pod: Pod): Promise<number | undefined> {
    if (!(await this.#isolates())) return undefined
    const { users } = this.#book
    const keys = keysOf(pod)
    const known = keys.find((key) => users[key] !== undefined)
    const user = known === undefined ? this.#take() : users[known]!
    const missing = keys.filter((key) => users[key] === undefined)
    for (const key of missing) users[key] = user
    if (missing.length > 0) {
      this.#forgetOldClaims()
      this.#save()
    }
    return user
  }

  release(uid: string): void {
    if (this.#book.users[podKey(uid)] === undefined) return
    delete this.#book.users[podKey(uid)]
    this.#save()
  }

  #take(): number {
    const taken = new Set(Object.values(this.#book.users))
    for (let tried = 0; tried <= taken.size; tried++) {
      const user = firstPodUser + this.#book.next
      this.#book.next = (this.#book.next + 1) % podUserCount
      if (!taken.has(user)) return user
    }
    throw new Error('no user ids are left for pods')
  }

  /** A claim that is forgotten and mounted again is given to another user, with all that is in it. */
  #forgetOldClaims(): void {
    const claims = Object.keys(this.#book.users).filter(isClaimKey)
    for (const key of claims.slice(0, Math.max(0, claims.length - mostClaims))) delete this.#book.users[key]
  }

  #save(): void {
    writeWhole(this.#file, JSON.stringify(this.#book))
  }
}

const podKey = (uid: string): string => `pod ${uid}`

const isClaimKey = (key: string): boolean => key.startsWith('claim ')

function keysOf(pod: Pod): string[] {
  const { uid = '', name, namespace } = pod.metadata
  const claims = (pod.spec.volumes ?? []).flatMap((volume) =>
    volume.persistentVolumeClaim
      ? volume.persistentVolumeClaim.claimName
      : volume.ephemeral
        ? `${name}-${volume.name}`
        : [],
  )
  return [podKey(uid), ...claims.map((claim) => `claim ${namespace}/${claim}`)]
}

/** A file that cannot be read is not taken for an empty one: its users may own volumes. */
function readBook(file: string): Book {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Book
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new Error(`${file}: ${(e as Error).message}`, { cause: e })
    return { next: 0, users: {} }
  }
}
