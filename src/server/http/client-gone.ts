/** The client went away in the middle of its request: there is nobody to answer. */
export class ClientGone extends Error {
  constructor() {
    super('the client has gone away')
    this.name = 'ClientGone'
  }
}
