import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { jsonText, readJson } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Logger } from '../../base/logger.ts'
import {
  type Admission,
  type AdmissionRequest,
  type AdmissionReview,
  NotAReview,
  answerReview,
} from './admission-review.ts'

export interface WebhookServerOptions<T extends KubeObject = KubeObject> {
  /** The certificate chain and its key, in PEM. */
  cert: string | Buffer
  key: string | Buffer
  /** Decides about a request. */
  judge: (request: AdmissionRequest<T>) => Admission<T> | Promise<Admission<T>>
  /** Logs requests that could not be answered. */
  logger?: Logger
  /** Default: 8443. 0 selects a free port. */
  port?: number
  /** Default: all addresses. */
  address?: string
}

export interface ServedWebhook {
  readonly port: number
  close(): Promise<void>
}

/** An AdmissionReview has two versions of an object, each of 3 MB at most. */
const maxBodyBytes = 16 * 1024 * 1024

/** The request cannot be answered with a review. */
class Unanswerable extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Serves an admission webhook over HTTPS, at every path. A request that is no AdmissionReview gets 400, and one whose
 * judgement fails gets 500: the API server then applies the failure policy.
 */
export async function serveWebhook<T extends KubeObject>(options: WebhookServerOptions<T>): Promise<ServedWebhook> {
  const { cert, key, judge, logger, port = 8443, address } = options
  const server = createServer({ cert, key }, (request, response) => {
    answerTo(request, judge).then(
      (review) => send(response, 200, 'application/json', jsonText(review)),
      (error: Error) => {
        const code = error instanceof Unanswerable ? error.code : 500
        logger?.warn('a request of a webhook has no answer', { code, error })
        send(response, code, 'text/plain; charset=utf-8', `${error.message}\n`)
      },
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeIdleConnections()
      }),
  }
}

async function answerTo<T extends KubeObject>(
  request: IncomingMessage,
  judge: WebhookServerOptions<T>['judge'],
): Promise<AdmissionReview> {
  if (request.method !== 'POST') throw new Unanswerable(405, 'method not allowed')
  const text = await bodyOf(request)
  let review: AdmissionReview
  try {
    review = readJson(text) as unknown as AdmissionReview
  } catch (e) {
    throw new Unanswerable(400, `the body is no JSON: ${(e as Error).message}`)
  }
  return answerReview(review, judge).catch((e: unknown) => {
    throw e instanceof NotAReview ? new Unanswerable(400, e.message) : e
  })
}

/** Reads a body. One that is too long is read to its end and dropped, so that the client gets the answer. */
async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length
    if (length <= maxBodyBytes) pieces.push(piece)
    else pieces.length = 0
  }
  if (length > maxBodyBytes) throw new Unanswerable(413, `the body is longer than ${maxBodyBytes} bytes`)
  return Buffer.concat(pieces).toString()
}

/** Sends an answer, unless the client has left. */
function send(response: ServerResponse, code: number, type: string, body: string): void {
  if (response.destroyed) return
  response.writeHead(code, { 'content-type': type, 'x-content-type-options': 'nosniff' }).end(body)
}
