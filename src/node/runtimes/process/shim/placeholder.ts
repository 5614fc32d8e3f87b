import type { Server } from 'node:http'
import type { Launch } from './protocol.ts'

/** Answers HTTP for a container that runs nothing, until it is closed. */
export class Placeholder {
  readonly #servers: Server[] = []
  #isClosed = false

  /** `say` is told of ports that it cannot have. */
  async listen({ address, ports, text }: NonNullable<Launch['placeholder']>, say: (line: string) => void): Promise<void> {
    if (ports.length === 0) return
    const { createServer } = await import('node:http')
    const body = Buffer.from(text)
    for (const port of ports) {
      if (this.#isClosed) return
      const server = createServer((request, response) => {
        request.resume()
        response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'content-length': body.length })
        response.end(request.method === 'HEAD' ? undefined : body)
      })
      this.#servers.push(server)
      await new Promise<void>((resolve) => {
        server.once('error', (error: NodeJS.ErrnoException) => {
          say(`cannot answer on ${address}:${port}: ${error.code ?? error.message}`)
          resolve()
        })
        server.listen(port, address, () => {
          say(`answers HTTP on ${address}:${port}`)
          resolve()
        })
      })
    }
  }

  close(): void {
    this.#isClosed = true
    for (const server of this.#servers.splice(0)) {
      server.close()
      server.closeAllConnections()
    }
  }
}
