/** This process is not, or no longer, the leader. A write that fails with it was never sent; there is no use in trying again. */
export class NotLeaderError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'NotLeaderError'
  }
}
