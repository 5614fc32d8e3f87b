import { parseInt64 } from '../../api/numbers/int64.ts'

/** The selection of log lines. */
export interface LogOptions {
  follow: boolean
  previous: boolean
  timestamps: boolean
  tailLines: number | undefined
  /** Milliseconds since the epoch. Earlier lines are omitted. */
  sinceMs: number | undefined
  limitBytes: number | undefined
  stream: 'All' | 'Stdout' | 'Stderr'
}

/** Parses the options from kubelet's query parameters. Throws one sentence if they are invalid. */
export function parseLogOptions(query: URLSearchParams, nowMs: number): LogOptions {
  const isSet = (name: string) => query.has(name) && !/^(false|0)$/i.test(query.get(name)!)
  const whole = (name: string, least: number) => {
    const text = query.get(name)
    if (text === null || text === '') return undefined
    const value = parseInt64(text)
    if (value === undefined || value < least)
      throw new Error(`${name}: ${JSON.stringify(text)} is not a whole number of at least ${least}`)
    return Number(value)
  }
  const seconds = whole('sinceSeconds', 1)
  const since = query.get('sinceTime')
  if (since && Number.isNaN(Date.parse(since))) throw new Error(`sinceTime: ${JSON.stringify(since)} is not a time`)
  const stream = query.get('stream') || 'All'
  if (stream !== 'All' && stream !== 'Stdout' && stream !== 'Stderr')
    throw new Error(`stream: ${JSON.stringify(stream)} is none of All, Stdout and Stderr`)
  return {
    follow: isSet('follow'),
    previous: isSet('previous'),
    timestamps: isSet('timestamps'),
    tailLines: whole('tailLines', 0),
    sinceMs: seconds !== undefined ? nowMs - seconds * 1000 : since ? Date.parse(since) : undefined,
    limitBytes: whole('limitBytes', 1),
    stream,
  }
}
