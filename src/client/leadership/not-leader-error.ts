/**
 * Thrown for a write when this process is not, or no longer, the leader. The write was not sent, and a retry is
 * useless.
 */
export class NotLeaderError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'NotLeaderError'
  }
}
