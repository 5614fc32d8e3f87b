import { type ComponentChild, Component, type ComponentType, createContext, h } from 'preact'
import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import { Refused, ask } from './api.ts'
import type { Stream, Topic } from './stream/stream.ts'

export const StreamContext = createContext<Stream | undefined>(undefined)

/** Subscribes to a topic. The component is rendered after changes, at most once per interval. */
export function useTopic(name: string, everyMs = 100): Topic {
  const stream = useContext(StreamContext)!
  const [, redraw] = useState(0)
  const ref = useRef<Topic | undefined>(undefined)
  if (ref.current?.name !== name) ref.current = stream.use(name)
  const topic = ref.current
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const changed = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        redraw((n) => n + 1)
      }, everyMs)
    }
    topic.listeners.add(changed)
    changed()
    return () => {
      clearTimeout(timer)
      topic.listeners.delete(changed)
      stream.release(topic)
    }
  }, [topic])
  return topic
}

/** The time, which changes every second. */
export function useNow(): number {
  const [now, set] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => set(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return now
}

export interface Asked<T> {
  value: T | undefined
  error: string | undefined
  code: number | undefined
  again(): void
}

/**
 * Requests data now, periodically, and when `tick` changes, but at the earliest two seconds after the last response.
 */
export function useAsked<T>(path: string, query: Record<string, string>, everyMs: number, tick: unknown = 0): Asked<T> {
  const [state, set] = useState<Omit<Asked<T>, 'again'>>({ value: undefined, error: undefined, code: undefined })
  const key = path + JSON.stringify(query)
  const plan = useRef({ again: () => {} })
  useEffect(() => {
    let isGone = false
    let timer: ReturnType<typeof setTimeout> | undefined
    let lastMs = 0
    let isAsking = false
    let isWanted = false
    const run = async () => {
      clearTimeout(timer)
      if (isAsking) return void (isWanted = true)
      isAsking = true
      try {
        const value = await ask<T>(path, query)
        if (!isGone) set({ value, error: undefined, code: undefined })
      } catch (e) {
        const { message } = e as Error
        if (!isGone)
          set((old) => ({
            value: e instanceof Refused && e.code < 500 ? undefined : old.value,
            error: message,
            code: e instanceof Refused ? e.code : 503,
          }))
      }
      isAsking = false
      lastMs = Date.now()
      if (!isGone) timer = setTimeout(run, isWanted ? restMs : everyMs)
      isWanted = false
    }
    plan.current.again = () => {
      clearTimeout(timer)
      timer = setTimeout(run, Math.max(0, lastMs + restMs - Date.now()))
    }
    set({ value: undefined, error: undefined, code: undefined })
    void run()
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [key])
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current) plan.current.again()
    isFirst.current = false
  }, [tick])
  return { ...state, again: () => plan.current.again() }
}

const restMs = 2000

/** Returns a component that is rendered again only if one of its properties has changed, by identity. */
export function memo<P extends object>(inner: ComponentType<P>): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const names = new Set([...Object.keys(this.props), ...Object.keys(next)]) as Set<keyof P>
      return [...names].some((name) => this.props[name] !== next[name])
    }

    render(): ComponentChild {
      return h(inner, this.props)
    }
  }
}
