//! The plain server on tokio, on one thread as the others are.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;

use crate::answers::{Answers, BUFFER_BYTES};

/// Serves for ever.
///
/// # Errors
///
/// It cannot listen or accept.
pub fn serve(port: u16, answers: Answers) -> io::Result<()> {
    let answers = Arc::new(answers);
    let runtime = Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        println!("ready");
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let answers = Arc::clone(&answers);
            tokio::spawn(async move {
                // A client that goes away in the middle of a transfer is no failure of the server.
                let _ = converse(stream, &answers).await;
            });
        }
    })
}

async fn converse(mut stream: TcpStream, answers: &Answers) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut partial = 0;
    loop {
        let count = stream.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        stream.write_all(answers.to(&buffer[..count], &mut partial)).await?;
    }
}
