/**
 * The facts that the monitor tells of a pod's sandbox: `created`, ready for the first time; `failed`, not ready within the
 * configured time; `abandoned`, neither when the pod was deleted, evicted or came to its end; `recreated`, ready again
 * after it was lost; `terminated`, gone after the pod was deleted; `unterminated`, not known to be gone when the deleted
 * pod was removed from the API.
 */
export type SandboxFactKind = 'created' | 'failed' | 'abandoned' | 'recreated' | 'terminated' | 'unterminated'

/** One measurement of one pod. Facts of a kind come once a pod, `recreated` once a time. */
export interface SandboxObservation {
  readonly kind: SandboxFactKind
  readonly uid: string
  readonly namespace: string
  readonly name: string
  /** When it happened, by the pod's own conditions; of `failed`, when the time was up. Facts may come late, and out of order. */
  readonly atMs: number
  /**
   * `created`, `abandoned`: since it was scheduled, at least. `failed`: the configured time. `recreated`: since it was
   * lost; undefined where that was not seen. `terminated`, `unterminated`: since the deletion. Of a wait that is not the
   * user's, time for which an object of the user was absent is taken off.
   */
  readonly latencyMs: number | undefined
  /** On `created`: true if `failed` or `abandoned` was told of this pod before, so that it is counted once. */
  readonly isLate: boolean
  /** True if the pod waited for an object of its user for at least half of the time: it burns no budget. */
  readonly isUserError: boolean
  readonly labels: SandboxLabels
}

/**
 * By these facts can be told apart, named as in metrics: `namespace`, `runtime_class`, `storage_classes` (sorted, separated by commas), `volumes` (how many), and
 * `label_X` and `annotation_X` for those of the pod that were chosen. What a pod lacks is ''.
 */
export type SandboxLabels = Readonly<Record<string, string>>

/** Something that a snapshot has a place for. All sections are written together, so that they agree with each other. */
export interface SnapshotSection {
  /** Its place; may never change. */
  readonly name: string
  /** What is to be kept, as JSON can have it. Called at most every few seconds, and not if nothing has changed. */
  save(): unknown
  /** Takes back what `save` gave, perhaps of an older release: what cannot be used is passed over. Called before the first fact, if there is anything. */
  restore(saved: unknown): void
}

/** What is served beside the metrics. */
export interface Page {
  readonly type: string
  readonly body: string
}

/** Who makes something of the facts. It registers its metrics by itself. */
export interface SandboxConsumer {
  observe(fact: SandboxObservation): void
  /** The first pod with these labels is there: what counts them is born at zero, before anything has happened. */
  appeared?(labels: SandboxLabels): void
  /** The last pod with these labels is gone. */
  vanished?(labels: SandboxLabels): void
  /** What it keeps beyond a restart. After one, facts that are newer than the snapshot are told again, and those that it holds are not. */
  readonly section?: SnapshotSection
  /** By path: `/slo`. */
  readonly pages?: Readonly<Record<string, () => Page>>
}
