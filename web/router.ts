import { useEffect, useState } from 'preact/hooks'

/** The view that an address names. */
export type Route =
  | { view: 'list' }
  | { view: 'workload'; kind: string; namespace: string; name: string }
  | { view: 'pod'; namespace: string; name: string }
  | { view: 'nodes' }
  | { view: 'node'; name: string }
  | { view: 'objectives' }
  | { view: 'controllers' }
  | { view: 'login' }
  | { view: 'unknown' }

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // An invalid percent sign. No object has such a name.
    return part
  }
}

/** Parses the path of an address. */
function routeOf(pathname: string): Route {
  const [head = '', a = '', b = '', c = ''] = pathname.slice(1).split('/').map(decoded)
  if (head === '') return { view: 'list' }
  if (head === 'workloads' && c) return { view: 'workload', kind: a, namespace: b, name: c }
  if (head === 'pods' && b) return { view: 'pod', namespace: a, name: b }
  if (head === 'nodes') return a ? { view: 'node', name: a } : { view: 'nodes' }
  if (head === 'objectives' || head === 'controllers' || head === 'login') return { view: head }
  return { view: 'unknown' }
}

const path = (...parts: string[]): string => `/${parts.map(encodeURIComponent).join('/')}`
export const workloadPath = (kind: string, namespace: string, name: string): string =>
  path('workloads', kind, namespace, name)
export const podPath = (namespace: string, name: string): string => path('pods', namespace, name)
export const nodePath = (name: string): string => path('nodes', name)

/** The address of the login page, which returns to the present address. */
const loginPath = (): string =>
  location.pathname === '/' && !location.search
    ? '/login'
    : `/login?next=${encodeURIComponent(location.pathname + location.search)}`

const moved = 'coxswain-moved'
/** The number of views of this page before the present one. Each entry of the history has its own. */
const depth = (): number => (history.state as { depth?: number } | null)?.depth ?? 0

/** Goes to another view, or replaces the address of this one. */
export function go(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(history.state, '', to)
  else history.pushState({ depth: depth() + 1 }, '', to)
  dispatchEvent(new Event(moved))
}

/** Goes to the login page, unless it is shown already. */
export function goToLogin(): void {
  if (location.pathname !== '/login') go(loginPath(), { replace: true })
}

/** Returns to the previous view, or, if this view was opened by its address, to its list. */
export function goBack(): void {
  if (depth() > 0) history.back()
  else go(location.pathname.startsWith('/nodes/') ? '/nodes' : '/', { replace: true })
}

/** The present address. */
export function useAddress(): { route: Route; query: URLSearchParams } {
  const [, redraw] = useState(0)
  useEffect(() => {
    const changed = () => redraw((n) => n + 1)
    addEventListener('popstate', changed)
    addEventListener(moved, changed)
    return () => {
      removeEventListener('popstate', changed)
      removeEventListener(moved, changed)
    }
  }, [])
  return { route: routeOf(location.pathname), query: new URLSearchParams(location.search) }
}

/** Follows links to views without loading the page again. */
export function followLinks(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest('a')
  if (
    !link ||
    link.target ||
    link.origin !== location.origin ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey
  )
    return
  event.preventDefault()
  go(link.pathname + link.search)
  scrollTo(0, 0)
}
