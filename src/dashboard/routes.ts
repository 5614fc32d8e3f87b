import type { ServerResponse } from 'node:http'
import { pathOf, pods } from '../client/index.ts'
import type { Clock } from '../base/clock.ts'
import { CommandError } from '../insight/failure.ts'
import { workloadKinds } from '../insight/workload/kinds.ts'
import type { Caches } from './board/caches.ts'
import type { Explanations } from './board/explanations.ts'
import type { Viewer } from './login/viewer.ts'
import { type ActionRequest, act, actionNames, confirmedIn, deletePod } from './pages/actions.ts'
import { controllersPage, objectivesPage } from './pages/cluster.ts'
import { nodePage, podPage } from './pages/pod.ts'
import { streamFrom } from './pages/upstream.ts'
import { type WorkloadQuery, revisionsPage, workloadPage } from './pages/workload.ts'

/** A JSON response. */
export type Reply = object

/** A request of a logged-in viewer. */
export interface Ask {
  viewer: Viewer
  caches: Caches
  explanations: Explanations
  clock: Clock
  query: URLSearchParams
  body: Record<string, unknown>
  response: ServerResponse
  about: { release: string; cluster: string; namespace: string }
}

/** Handles a request; undefined if it has sent the response itself. */
type Route = (ask: Ask) => Promise<Reply | undefined> | Reply

function required(from: (name: string) => unknown, name: string): string {
  const value = from(name)
  if (typeof value !== 'string' || value === '') throw new CommandError(`${name}: Required value`)
  return value
}

function workloadIn(from: (name: string) => unknown): WorkloadQuery {
  const text = required(from, 'kind')
  const kind = workloadKinds.find((one) => one.kind === text)
  if (!kind)
    throw new CommandError(
      `kind: Unsupported value: ${JSON.stringify(text)}: supported values: ${workloadKinds.map((one) => JSON.stringify(one.kind)).join(', ')}`,
    )
  return { kind, namespace: required(from, 'namespace'), name: required(from, 'name') }
}

const inQuery =
  ({ query }: Ask) =>
  (name: string) =>
    query.get(name)
const inBody =
  ({ body }: Ask) =>
  (name: string) =>
    body[name]

/** Handlers of the paths below /api, which use the viewer's identity. */
export const routes: Readonly<Record<string, Route>> = {
  'GET me': ({ viewer, about }) => ({ user: viewer.name, ...about }),
  'GET workload': (ask) => workloadPage(ask.viewer, ask.caches, ask.explanations, ask.clock, workloadIn(inQuery(ask))),
  'GET revisions': (ask) => revisionsPage(ask.viewer, workloadIn(inQuery(ask)), ask.query.has('values')),
  'GET pod': (ask) =>
    podPage(ask.viewer, ask.caches, ask.clock, required(inQuery(ask), 'namespace'), required(inQuery(ask), 'name')),
  'GET node': (ask) => nodePage(ask.viewer, required(inQuery(ask), 'name')),
  'GET controllers': ({ viewer }) => controllersPage(viewer),
  'GET objectives': ({ viewer, caches, clock }) => objectivesPage(viewer, caches, clock),
  'GET log': sendLog,
  'POST action': (ask) => {
    const { kind, namespace, name } = workloadIn(inBody(ask))
    const request = ask.body as unknown as ActionRequest
    if (!actionNames.includes(request.action))
      throw new CommandError(`action: Unsupported value: ${JSON.stringify(request.action)}`)
    const isDry = ask.body['dryRun'] === true
    return act(ask.viewer.client, ask.clock, {
      kind,
      namespace,
      name,
      request,
      isDry,
      confirmed: confirmedIn(ask.body),
    })
  },
  'POST delete-pod': (ask) =>
    deletePod(
      ask.viewer.client,
      required(inBody(ask), 'namespace'),
      required(inBody(ask), 'name'),
      ask.body['dryRun'] === true,
      confirmedIn(ask.body),
    ),
}

/** Number of initial log lines. */
const tailLines = '2000'

/** Streams a log until the page disconnects. */
async function sendLog(ask: Ask): Promise<undefined> {
  const { viewer, query, response } = ask
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const options = new URLSearchParams({ container: required(inQuery(ask), 'container'), tailLines, timestamps: 'true' })
  for (const name of ['follow', 'previous']) if (query.get(name) === 'true') options.set(name, 'true')
  const sinceTime = query.get('sinceTime')
  if (sinceTime) options.set('sinceTime', sinceTime)
  const path = pathOf(pods, required(inQuery(ask), 'namespace'), required(inQuery(ask), 'name'), 'log')
  const ended = AbortSignal.any([gone.signal, viewer.ended])
  const source = await streamFrom(viewer.access, `${path}?${options.toString()}`, ended)
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
  response.flushHeaders()
  source.on('error', () => response.end())
  source.pipe(response)
  return undefined
}
