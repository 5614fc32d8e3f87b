import type { IncomingMessage } from 'node:http'
import { ApiError, serviceUnavailable } from '../../api/errors.ts'
import { jsonText, readJson } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import { requestFailure } from '../http/listener/network-errors.ts'
import type { UserInfo } from '../objects/objects.ts'
import { answerText, statusIn } from '../webhooks/answers.ts'
import { type RemoteAccess, remoteRequest } from './remote-request.ts'
import type { Remote } from './remote.ts'

/** An in-process request for an extension API server. */
interface RemoteCall {
  method: string
  path: string
  query?: Readonly<Record<string, string>>
  body?: unknown
  contentType?: string
  accept?: string
  user: UserInfo
  signal?: AbortSignal
}

/** Receives the events of a watch. */
interface RemoteWatcher {
  opened(): void
  event(type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK', object: KubeObject): void
  closed(error: Error | undefined): void
}

/** Sends a request on behalf of a user. Rejects with an ApiError. */
function send(access: RemoteAccess, remote: Remote, call: RemoteCall): Promise<IncomingMessage> {
  const {
    method,
    path,
    query = {},
    body,
    contentType = 'application/json',
    accept = 'application/json',
    user,
    signal,
  } = call
  if (!remote.isAvailable) return Promise.reject(serviceUnavailable('service unavailable'))
  return new Promise((resolve, reject) => {
    const search = new URLSearchParams(query).toString()
    const text = body === undefined ? undefined : Buffer.from(jsonText(body))
    const headers = { accept, ...(text ? { 'content-type': contentType, 'content-length': text.length } : {}) }
    const { request, address } = remoteRequest(access, remote, {
      method,
      path: search ? `${path}?${search}` : path,
      headers,
      user,
      signal,
    })
    request.on('error', (error) =>
      reject(serviceUnavailable(`error trying to reach service: ${requestFailure(error, address)}`)),
    )
    request.once('response', resolve)
    request.end(text)
  })
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of answer.setEncoding('utf8')) text += piece as string
  return text
}

function errorOf(code: number, text: string): ApiError {
  const status = statusIn(text)
  const message = answerText(code, text)
  if (status) return new ApiError(status.code ?? code, status.reason ?? '', message, status.details, status.metadata)
  return new ApiError(code, code === 503 ? 'ServiceUnavailable' : '', message)
}

/** Sends a request and parses the response. */
export async function callRemote(access: RemoteAccess, remote: Remote, call: RemoteCall): Promise<unknown> {
  const answer = await send(access, remote, call)
  const text = await textOf(answer)
  const code = answer.statusCode ?? 0
  if (code < 200 || code >= 300) throw errorOf(code, text)
  return answer.headers['content-type']?.startsWith('application/json') ? readJson(text) : text
}

/**
 * Watches objects of an extension API server. The returned function ends the watch; after that only `closed` is called.
 */
export function watchRemote(
  access: RemoteAccess,
  remote: Remote,
  call: RemoteCall,
  watcher: RemoteWatcher,
): () => void {
  const ending = new AbortController()
  const signal = call.signal ? AbortSignal.any([ending.signal, call.signal]) : ending.signal
  const run = async () => {
    const answer = await send(access, remote, { ...call, query: { ...call.query, watch: 'true' }, signal })
    if (answer.statusCode !== 200) throw errorOf(answer.statusCode ?? 0, await textOf(answer))
    watcher.opened()
    let rest = ''
    for await (const piece of answer.setEncoding('utf8')) {
      const lines = (rest + (piece as string)).split('\n')
      rest = lines.pop()!
      for (const line of lines) if (line) tell(line, watcher)
    }
  }
  run().then(
    () => watcher.closed(undefined),
    (e: unknown) => watcher.closed(signal.aborted ? undefined : (e as Error)),
  )
  return () => ending.abort()
}

function tell(line: string, watcher: RemoteWatcher): void {
  const { type, object } = readJson(line) as {
    type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
    object: KubeObject
  }
  if (type === 'ERROR') throw errorOf(500, jsonText(object))
  watcher.event(type, object)
}
