import { readFileSync } from 'node:fs'
import type { Pod } from '../../api/generated/types.ts'
import { replaceFile } from '../../base/durable-files.ts'

/**
 * The first user id for pods. It is above the ranges of systemd, Docker and /etc/subuid, and below the largest
 * `runAsUser`.
 */
export const firstPodUser = 1_900_000_000
const podUserCount = 100_000_000

/** The maximum number of claims whose users are stored. */
const mostClaims = 10_000

/** True if an id is in the range of pod users and groups. */
export const isPodUser = (id: number): boolean => id >= firstPodUser && id < firstPodUser + podUserCount

/** Assigns each pod the user that its processes run as. */
export interface PodUserSource {
  /** The pod's user id, which is also its group id. Undefined if pods run as the node's own user. */
  of(pod: Pod): Promise<number | undefined>
  /** Called when the pod is gone. */
  release(uid: string): void
}

/** For nodes whose pods have no users of their own. */
export const noPodUsers: PodUserSource = { of: async () => undefined, release: () => {} }

interface Book {
  next: number
  /** User ids by `pod UID` and `claim NAMESPACE/NAME`. */
  users: Record<string, number>
}

/**
 * The users of a node's pods, stored in a file. An id is reused only after all others of the range were assigned. Pods
 * that mount the same claim share a user, so that a pod can write the files of its predecessor.
 */
export class PodUsers implements PodUserSource {
  readonly #file: string
  readonly #isolates: () => Promise<boolean>
  readonly #book: Book

  /** `isolates`: true if the runtime can run pods as users of their own. */
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
    throw new Error('no user IDs are left for pods')
  }

  /** If a forgotten claim is mounted again, it gets another user, and its files are changed to that user. */
  #forgetOldClaims(): void {
    const claims = Object.keys(this.#book.users).filter(isClaimKey)
    for (const key of claims.slice(0, Math.max(0, claims.length - mostClaims))) delete this.#book.users[key]
  }

  #save(): void {
    replaceFile(this.#file, JSON.stringify(this.#book))
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

/** An unreadable file is an error and not an empty one, because its users may own volumes. */
function readBook(file: string): Book {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Book
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new Error(`${file}: ${(e as Error).message}`, { cause: e })
    return { next: 0, users: {} }
  }
}
