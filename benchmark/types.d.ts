/** turbo-net brings no types. What is used of it is checked where it is used. */
declare module 'turbo-net' {
  const library: import('./echo/servers/read-write').Library &
    import('./one-process/programs/read-write').Library;
  export = library;
}
