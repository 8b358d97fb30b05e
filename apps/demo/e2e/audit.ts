/** Accessibility that can be measured: names, labels and contrast. Each function runs inside the page. */
import type { Page } from 'playwright-core'

/** Controls without an accessible name, as HTML. */
export function namelessControls(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const name = (element: Element): string => {
      const labels = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement ? [...(element.labels ?? [])] : []
      const text = labels.map((label) => label.textContent).join('') || element.textContent
      return (element.getAttribute('aria-label') ?? text ?? '').trim()
    }
    const controls = [...document.querySelectorAll('button, a, input, textarea, select, [tabindex="0"]')]
    return controls.filter((control) => name(control) === '').map((control) => control.outerHTML.slice(0, 120))
  })
}

/** Visible texts below WCAG AA, as `text: ratio`. Disabled controls are exempt there and here. */
export function lowContrast(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    type Rgba = [number, number, number, number]
    const canvas = document.createElement('canvas')
    canvas.width = canvas.height = 1
    const context = canvas.getContext('2d', { willReadFrequently: true })
    const parse = (color: string): Rgba => {
      if (context === null) return [0, 0, 0, 1]
      context.clearRect(0, 0, 1, 1)
      context.fillStyle = color
      context.fillRect(0, 0, 1, 1)
      const [r = 0, g = 0, b = 0, a = 0] = context.getImageData(0, 0, 1, 1).data
      return [r, g, b, a / 255]
    }
    const over = ([r, g, b, a]: Rgba, [x, y, z]: Rgba): Rgba => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1]
    const luminance = (color: Rgba): number => {
      const [r = 0, g = 0, b = 0] = color.map((part) => {
        const value = part / 255
        return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    const backgroundOf = (element: Element): Rgba => {
      const chain: Element[] = []
      for (let at: Element | null = element; at !== null; at = at.parentElement) chain.unshift(at)
      return chain.reduce<Rgba>((ground, each) => over(parse(getComputedStyle(each).backgroundColor), ground), [255, 255, 255, 1])
    }
    const low = new Set<string>()
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const { parentElement: element, textContent } = walker.currentNode
      const text = (textContent ?? '').trim()
      if (element === null || text === '' || element.closest('.visually-hidden, .skip, :disabled, noscript, script')) continue
      const { width, height } = element.getBoundingClientRect()
      if (width === 0 || height === 0 || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
      const style = getComputedStyle(element)
      const ground = backgroundOf(element)
      const [light = 0, dark = 0] = [luminance(over(parse(style.color), ground)), luminance(ground)].sort((a, b) => b - a)
      const ratio = (light + 0.05) / (dark + 0.05)
      const size = Number.parseFloat(style.fontSize)
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
      if (ratio < (large ? 3 : 4.5)) low.add(`${text.slice(0, 40)}: ${ratio.toFixed(2)}`)
    }
    return [...low]
  })
}

/** Visible elements that reach beyond the screen's right edge, unless something around them scrolls sideways. */
export function tooWide(page: Page): Promise<string[]> {
  // Not the page's `innerWidth`: a phone widens that to fit what is too wide.
  const width = page.viewportSize()?.width ?? 0
  return page.evaluate((right) => {
    const scrolls = (element: Element | null): boolean =>
      element !== null &&
      ((['auto', 'scroll'].includes(getComputedStyle(element).overflowX) && element.scrollWidth > element.clientWidth) ||
        scrolls(element.parentElement))
    return [...document.querySelectorAll('body *:not(.water *)')]
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > right + 1)
      .filter((element) => !scrolls(element.parentElement))
      .map((element) => `${element.tagName}.${element.getAttribute('class') ?? ''}`)
  }, width)
}
