import { useEffect, useRef, useState } from 'preact/hooks'
import { refusalOf } from '../api.ts'

/** Older lines are dropped. */
const mostLines = 5000

/** The log of a container: followed, or of the previous container. */
export function Log({
  namespace,
  pod,
  container,
  hasPrevious,
}: {
  namespace: string
  pod: string
  container: string
  hasPrevious: boolean
}) {
  const [isFollowing, setFollowing] = useState(true)
  const [isPrevious, setPrevious] = useState(false)
  const [search, setSearch] = useState('')
  const [error, setError] = useState('')
  const lines = useRef<string[]>([])
  const [, redraw] = useState(0)
  const box = useRef<HTMLPreElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    const gone = new AbortController()
    lines.current = []
    setError('')
    const query = new URLSearchParams({
      namespace,
      name: pod,
      container,
      follow: String(isFollowing && !isPrevious),
      previous: String(isPrevious),
    })
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        redraw((n) => n + 1)
      }, 100)
    }
    const read = async () => {
      const response = await fetch(`/api/log?${query.toString()}`, { signal: gone.signal })
      if (!response.ok) throw await refusalOf(response)
      const decoder = new TextDecoder()
      let rest = ''
      const reader = response.body!.getReader()
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
        const [last = '', ...whole] = (rest + decoder.decode(chunk.value, { stream: true })).split('\n').reverse()
        rest = last
        lines.current.push(...whole.reverse())
        if (lines.current.length > mostLines) lines.current.splice(0, lines.current.length - mostLines)
        show()
      }
    }
    read().catch((e: Error) => gone.signal.aborted || setError(e.message))
    return () => {
      gone.abort()
      clearTimeout(timer)
    }
  }, [namespace, pod, container, isFollowing, isPrevious])
  useEffect(() => {
    if (isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight
  })
  const wanted = search.toLowerCase()
  const shown = wanted ? lines.current.filter((line) => line.toLowerCase().includes(wanted)) : lines.current
  return (
    <div class="log">
      <div class="filters">
        <input
          type="search"
          aria-label="Search in the log"
          placeholder="Search in the log"
          value={search}
          onInput={(e) => setSearch(e.currentTarget.value)}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={isFollowing}
            disabled={isPrevious}
            onChange={(e) => setFollowing(e.currentTarget.checked)}
          />{' '}
          Follow
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={isPrevious}
            disabled={!hasPrevious}
            onChange={(e) => setPrevious(e.currentTarget.checked)}
          />{' '}
          Previous run
        </label>
        <span class="dim" role="status">
          {wanted ? `${shown.length} of ${lines.current.length} lines` : `${lines.current.length} lines`}
        </span>
      </div>
      {error ? (
        <p class="error" role="alert">
          {error}
        </p>
      ) : (
        <pre
          ref={box}
          tabIndex={0}
          aria-label={`Log of ${container}`}
          onScroll={(e) =>
            (isAtEnd.current =
              e.currentTarget.scrollHeight - e.currentTarget.scrollTop - e.currentTarget.clientHeight < 30)
          }
        >
          {shown.length === 0 ? (
            <span class="dim">{wanted ? 'No line has this.' : 'The container has written nothing yet.'}</span>
          ) : (
            shown.map((line, i) => <LogLine key={i} line={line} />)
          )}
        </pre>
      )}
    </div>
  )
}

function LogLine({ line }: { line: string }) {
  const at = line.indexOf(' ')
  const time = /^\d{4}-\d\d-\d\dT/.test(line) ? line.slice(11, 23) : ''
  return (
    <div>
      {time && <span class="dim">{time} </span>}
      {time ? line.slice(at + 1) : line}
    </div>
  )
}
