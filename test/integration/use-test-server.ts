import { afterEach, beforeEach, expect } from 'vitest'
import { TestServer } from './server.ts'

/** A server of its own for each test of a file, which must not have failed by its own fault. */
export function useTestServer(take: (server: TestServer) => void): void {
  let server: TestServer
  beforeEach(async () => {
    server = await TestServer.start()
    take(server)
  })
  afterEach(async () => {
    expect(server.errors).toEqual([])
    await server.close()
  })
}
