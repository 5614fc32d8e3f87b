/**
 * The facts about a pod's sandbox. `created`: ready for the first time. `failed`: not ready within the configured time.
 * `abandoned`: neither, when the pod was deleted, evicted or finished. `recreated`: ready again after it was lost.
 * `terminated`: gone after the pod was deleted. `unterminated`: not known to be gone when the deleted pod was removed
 * from the API.
 */
export type SandboxFactKind = 'created' | 'failed' | 'abandoned' | 'recreated' | 'terminated' | 'unterminated'

/** One measurement of one pod. Each kind occurs once per pod, `recreated` several times. */
export interface SandboxObservation {
  readonly kind: SandboxFactKind
  readonly uid: string
  readonly namespace: string
  readonly name: string
  /**
   * The time of the fact according to the pod's conditions; of `failed`, the end of the configured time. Facts may
   * arrive late, and out of order.
   */
  readonly atMs: number
  /**
   * `created`, `abandoned`: the time since scheduling, at least. `failed`: the configured time. `recreated`: the time
   * since the loss, undefined if it was not observed. `terminated`, `unterminated`: the time since the deletion. Time
   * for which a user's object was missing is subtracted, unless the wait is a user error.
   */
  readonly latencyMs: number | undefined
  /** On `created`: true if the pod was reported as `failed` or `abandoned` before, so that it is counted once. */
  readonly isLate: boolean
  /** True if the pod waited for a user's object for at least half of the time. It does not spend the error budget. */
  readonly isUserError: boolean
  readonly labels: SandboxLabels
}

/**
 * The labels of the fact, named as in metrics: `namespace`, `runtime_class`, `storage_classes` (sorted, separated by
 * commas), `volumes` (their number), and `label_X` and `annotation_X` for selected keys. Missing values are ''.
 */
export type SandboxLabels = Readonly<Record<string, string>>

/** A section of a snapshot. All sections are written together, so that they are consistent. */
export interface SnapshotSection {
  /** The key of the section, which must never change. */
  readonly name: string
  /** The JSON value to keep. Called at most every few seconds, and only after a change. */
  save(): unknown
  /**
   * Restores a value of `save`, possibly of an older release. Unusable parts are ignored. Called before the first fact,
   * if a value exists.
   */
  restore(saved: unknown): void
}

/** Additional HTTP pages. */
export interface Page {
  readonly type: string
  readonly body: string
}

/** A consumer of facts, which registers its own metrics. */
export interface SandboxConsumer {
  observe(fact: SandboxObservation): void
  /** The first pod with these labels was added. Its counters start at zero before any fact. */
  appeared?(labels: SandboxLabels): void
  /** The last pod with these labels is gone. */
  vanished?(labels: SandboxLabels): void
  /**
   * The data to keep across restarts. After one, facts newer than the snapshot are repeated, and older ones are not.
   */
  readonly section?: SnapshotSection
  /** By path, for example `/slo`. */
  readonly pages?: Readonly<Record<string, () => Page>>
}
