/** Why a container was not started, as its status says it. */
export class StartError extends Error {
  readonly reason: string
  /** When it may be tried again; undefined: when the pod is looked at next. */
  readonly retryMs: number | undefined

  constructor(reason: string, message: string, retryMs?: number) {
    super(message)
    this.name = 'StartError'
    this.reason = reason
    this.retryMs = retryMs
  }
}
