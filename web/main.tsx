import { render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Refused, ask, tell } from './api.ts'
import type { MeFact } from './facts.ts'
import { Notice } from './parts/words.tsx'
import { type Route, followLinks, go, goBack, goToLogin, useAddress } from './router.ts'
import { type Link, Stream, browserHost } from './stream/stream.ts'
import { StreamContext } from './use.ts'
import { ControllersView } from './views/controllers.tsx'
import { ListView } from './views/list.tsx'
import { LoginView } from './views/login.tsx'
import { NodeView, NodesView } from './views/nodes.tsx'
import { ObjectivesView } from './views/objectives.tsx'
import { PodView } from './views/pod.tsx'
import { WorkloadView } from './views/workload.tsx'

const keys = [
  ['/', 'search'],
  ['j  k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'back'],
  ['?', 'these keys'],
] as const
const views = [
  ['/', 'Workloads', ['list', 'workload', 'pod']],
  ['/nodes', 'Nodes', ['nodes', 'node']],
  ['/objectives', 'Objectives', ['objectives']],
  ['/controllers', 'Controllers', ['controllers']],
] as const

function View({ route, query }: { route: Route; query: URLSearchParams }) {
  switch (route.view) {
    case 'list':
      return <ListView query={query} />
    case 'workload':
      return (
        <WorkloadView
          key={`${route.kind}${route.namespace}${route.name}`}
          kind={route.kind}
          namespace={route.namespace}
          name={route.name}
        />
      )
    case 'pod':
      return <PodView key={route.namespace + route.name} namespace={route.namespace} name={route.name} />
    case 'nodes':
      return <NodesView />
    case 'node':
      return <NodeView key={route.name} name={route.name} />
    case 'objectives':
      return <ObjectivesView />
    case 'controllers':
      return <ControllersView />
    default:
      return (
        <Notice title="There is no such page">
          <p>
            <a href="/">All workloads</a>
          </p>
        </Notice>
      )
  }
}

/** Switches between light and dark, and stores the choice. */
function changeTheme(): void {
  const isDark = document.documentElement.dataset['theme']
    ? document.documentElement.dataset['theme'] === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches
  const theme = isDark ? 'light' : 'dark'
  document.documentElement.dataset['theme'] = theme
  localStorage.setItem('theme', theme)
  dispatchEvent(new Event('coxswain-theme'))
}

/** Ends the session with its streams and shells. */
async function logOut(): Promise<void> {
  await tell('logout', {}).catch(() => {})
  location.assign('/login')
}

/**
 * Moves the focus between the rows of a view, to the first link of each. The list of workloads has its own selection.
 */
function stepThroughLinks(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('main .facts td:first-child a, main .links a')]
  const at = links.indexOf(document.activeElement as HTMLAnchorElement)
  links[at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + by))]?.focus()
}

/** Interval of requests for the session while the server cannot be reached. */
const retryMs = 2000

const linkTexts: Readonly<Record<Link, string>> = {
  connecting: 'connecting',
  live: 'live',
  lost: 'connection lost, trying again',
}

function Page() {
  const { route, query } = useAddress()
  const [me, setMe] = useState<MeFact | undefined>(undefined)
  const [link, setLink] = useState<Link>('connecting')
  const stream = useRef<Stream | undefined>(undefined)
  const help = useRef<HTMLDialogElement>(null)
  stream.current ??= new Stream(browserHost(goToLogin))
  useEffect(() => stream.current!.onLink(() => setLink(stream.current!.link)), [])
  useEffect(() => {
    if (route.view === 'login') return undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    const read = () => {
      // A refusal of the session has led to the login.
      ask<MeFact>('me').then(setMe, (e) => void (e instanceof Refused || (timer = setTimeout(read, retryMs))))
    }
    read()
    return () => clearTimeout(timer)
  }, [route.view === 'login'])
  useEffect(() => {
    const name = 'name' in route ? route.name : route.view
    document.title = `${name} · Coxswain`
  }, [JSON.stringify(route)])
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      if (e.metaKey || e.ctrlKey || e.altKey) return
      // Escape closes a dialog, also from its fields.
      if (document.querySelector('dialog[open]')) return
      const isTyping = (e.target as Element).matches('input, select, textarea, [role=textbox]')
      if (e.key === 'Escape') {
        // A search field would clear itself.
        if (isTyping) e.preventDefault()
        if (isTyping) (e.target as HTMLElement).blur()
        else if (location.pathname !== '/') goBack()
      }
      if (isTyping) return
      if (e.key === '/') {
        e.preventDefault()
        if (location.pathname !== '/') go('/')
        // Focuses an existing box at once, because the next key is meant for it.
        const box = document.getElementById('search')
        if (box) box.focus()
        else setTimeout(() => document.getElementById('search')?.focus(), 0)
      }
      if (e.key === 'j' || e.key === 'k') stepThroughLinks(e.key === 'j' ? 1 : -1)
      if (e.key === '?') help.current?.showModal()
    }
    addEventListener('keydown', key)
    return () => removeEventListener('keydown', key)
  }, [])
  useEffect(() => {
    if (me) stream.current!.start()
  }, [me])
  if (route.view === 'login') return <LoginView wasUsed={query.has('used')} next={query.get('next') ?? '/'} />
  if (!me)
    return (
      <p class="wait" role="status">
        Connecting …
      </p>
    )
  return (
    <StreamContext.Provider value={stream.current}>
      <header class="top">
        <a class="brand" href="/" aria-label="Coxswain: all workloads">
          Coxswain
        </a>
        <nav aria-label="Views">
          {views.map(([path, title, names]) => (
            <a
              key={path}
              href={path}
              aria-current={(names as readonly string[]).includes(route.view) ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
        <span class={`link ${link}`} role="status">
          <i aria-hidden="true" />
          {linkTexts[link]}
        </span>
        <span class="dim who" title={`release ${me.release}`}>
          {me.user} @ {me.cluster}
          {me.namespace && `, namespace ${me.namespace}`}
        </span>
        <button onClick={() => void logOut()}>Log out</button>
        <button aria-label="Light or dark" title="Light or dark" onClick={changeTheme}>
          ◐
        </button>
        <button aria-label="Keys" title="Keys" onClick={() => help.current?.showModal()}>
          ?
        </button>
      </header>
      <main>
        <View route={route} query={query} />
      </main>
      <dialog ref={help} aria-label="Keys">
        <h2>Keys</h2>
        <dl class="keys">
          {keys.map(([key, does]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
        <form method="dialog">
          <button class="primary">Close</button>
        </form>
      </dialog>
    </StreamContext.Provider>
  )
}

const theme = localStorage.getItem('theme')
if (theme) document.documentElement.dataset['theme'] = theme
document.addEventListener('click', followLinks)
render(<Page />, document.getElementById('page')!)
